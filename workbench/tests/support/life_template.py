"""A template of the form that Assay's own have, small enough for moto, and what moto takes of it."""

STACK_TEMPLATE = """\
AWSTemplateFormatVersion: "2010-09-09"
Description: One NFS server and clients
Parameters:
  RunName: {Type: String}
  Owner: {Type: String}
  ExpiryTime: {Type: String, AllowedPattern: '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d'}
  ClientCount: {Type: Number, Default: 2, MinValue: 0, MaxValue: 100}
  ClientInstanceType: {Type: String, Default: c6in.large, AllowedValues: [c6in.large, c6in.xlarge]}
  Size: {Type: String, Default: small, AllowedValues: [small, large]}
  SpotMaxPrice: {Type: String, Default: ""}
  Password: {Type: String, NoEcho: true, Default: "", MaxLength: 40}
  ImageId:
    Type: AWS::SSM::Parameter::Value<AWS::EC2::Image::Id>
    Default: /aws/service/debian/release/12/latest/amd64
Mappings:
  Servers:
    small: {Type: c6in.xlarge, Disk: 100}
    large: {Type: c6in.4xlarge, Disk: 1000}
Conditions:
  UseSpot: !Not [!Equals [!Ref SpotMaxPrice, ""]]
  IsLarge: !Equals [!Ref Size, large]
Resources:
  Vpc: {Type: AWS::EC2::VPC, Properties: {CidrBlock: 10.0.0.0/16}}
  Subnet: {Type: AWS::EC2::Subnet, Properties: {VpcId: !Ref Vpc, CidrBlock: 10.0.0.0/24}}
  StorageLaunch:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        ImageId: !Ref ImageId
        InstanceType: !FindInMap [Servers, !Ref Size, Type]
        BlockDeviceMappings:
          - {DeviceName: /dev/xvda, Ebs: {VolumeSize: 20, VolumeType: gp3, DeleteOnTermination: true}}
          - DeviceName: /dev/sdf
            Ebs:
              VolumeSize: !FindInMap [Servers, !Ref Size, Disk]
              VolumeType: gp3
              Iops: 6000
              Throughput: 500
              DeleteOnTermination: true
  Storage:
    Type: AWS::EC2::Instance
    Properties:
      SubnetId: !Ref Subnet
      LaunchTemplate: {LaunchTemplateId: !Ref StorageLaunch, Version: !GetAtt StorageLaunch.LatestVersionNumber}
      Tags:
        - {Key: Name, Value: storage1}
        - {Key: "assay:role", Value: storage}
        - {Key: "assay:stack", Value: !Ref "AWS::StackName"}
        - {Key: "assay:expires", Value: !Ref ExpiryTime}
        - {Key: "assay:owner", Value: !Ref Owner}
  ClientLaunch:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        ImageId: !Ref ImageId
        InstanceType: !Ref ClientInstanceType
        UserData: {"Fn::Base64": !Sub "#cloud-config\\n# ${AWS::StackName} ${!keep}\\n"}
        InstanceMarketOptions: !If
          - UseSpot
          - {MarketType: spot, SpotOptions: {MaxPrice: !Ref SpotMaxPrice}}
          - !Ref AWS::NoValue
  Clients:
    Type: AWS::AutoScaling::AutoScalingGroup
    Properties:
      MinSize: !Ref ClientCount
      MaxSize: !Ref ClientCount
      VPCZoneIdentifier: [!Ref Subnet]
      LaunchTemplate: {LaunchTemplateId: !Ref ClientLaunch, Version: !GetAtt ClientLaunch.LatestVersionNumber}
      Tags:
        - {Key: "assay:stack", Value: !Ref "AWS::StackName", PropagateAtLaunch: true}
        - {Key: "assay:role", Value: client, PropagateAtLaunch: true}
        - {Key: "assay:expires", Value: !Ref ExpiryTime, PropagateAtLaunch: true}
  Scratch:
    Type: AWS::S3::Bucket
    Condition: IsLarge
    Properties: {Tags: [{Key: "assay:stack", Value: !Ref "AWS::StackName"}]}
Outputs:
  StorageAddresses: {Value: !GetAtt Storage.PrivateIp}
  ClientGroup: {Value: !Ref Clients}
  Mount: {Value: !Sub "${Storage.PrivateIp}:/export"}
  MountPoint: {Value: /mnt/assay}
"""
VOLUME = """\
  Extra:
    Type: AWS::EC2::Volume
    Properties:
      Size: 100
      VolumeType: gp3
      AvailabilityZone: eu-west-1a
      Tags: [{Key: "assay:stack", Value: !Ref "AWS::StackName"}, {Key: "assay:expires", Value: !Ref ExpiryTime}]
"""


def with_volume() -> str:
    """The template with a volume of its own, which moto does not delete with the stack."""
    return STACK_TEMPLATE.replace("Outputs:\n", f"{VOLUME}Outputs:\n", 1)
