"""What becomes of each option of elbencho 3.1 in a study."""

_MAPPED = """
    block size threads dirs files mkdirs deldirs delfiles write read stat direct rand iodepth timelimit infloop
    iterations hosts hostsfile numhosts rotatehosts dropcache sync dirsharing mmap preallocfile backward strided
    rwmixpct rwmixthr rwmixthrpct limitread limitwrite verify blockvarpct cores zones randamount s3endpoints
    s3region s3objprefix s3virtaddr s3chksumalgo s3checksumalgo s3listobj s3listobjpar s3multidel s3randobj
"""
MAPPED = frozenset(_MAPPED.split())
"""Options that a study has."""

REFUSED = {
    "netbench": "it measures a network, not storage: `assay preflight` does",
    "hdfs": "there is no target of that kind",
    "treefile": "the files that it lists are not read: write file_sizes and total_files",
    "treescan": "no tree is scanned: write file_sizes and total_files",
    "configfile": "the file is not read: write its options on the command line",
    "gds": "no data goes to memory of GPUs",
    "cufile": "no data goes to memory of GPUs",
    "gpuids": "no data goes to memory of GPUs",
    "service": "it measures nothing: write the command line with --hosts",
    "quit": "it measures nothing",
    "interrupt": "it measures nothing",
    "dryrun": "it measures nothing: leave it out, and `assay plan` says what would be done",
    "version": "it measures nothing",
    "help": "it measures nothing",
    "help-all": "it measures nothing",
    "help-bdev": "it measures nothing",
    "help-dist": "it measures nothing",
    "help-large": "it measures nothing",
    "help-multi": "it measures nothing",
    "help-s3": "it measures nothing",
    "s3mpucomplphase": "uploads of parts and their completion are one operation",
    "s3mpusharing": "each object is put by one lane",
    "s3nompucompl": "uploads are always completed",
    "s3sse": "objects are not encrypted by request",
    "s3sseckey": "objects are not encrypted by request",
    "s3ssekmskey": "objects are not encrypted by request",
}
"""Option -> why a command line with it is refused."""

NOTES = {
    "norandalign": "left out: random offsets are whole records, each once",
    "randalgo": "each record comes once, in an order that follows from the seed",
    "blockvaralgo": "contents are a function of the study's seed",
    "nofdsharing": "each lane opens its files itself",
    "fadv": "left out: no hints about access",
    "madv": "left out: no hints about access",
    "flock": "left out: files are not locked",
    "readinline": "left out: what was written is read in a phase of its own",
    "statinline": "left out: names are looked at in a phase of their own",
    "verifydirect": "left out: verify checks what is read in a phase of its own",
    "trunc": "write makes its files anew",
    "trunctosize": "write makes its files anew",
    "nosvcshare": "left out: the data set is that of all hosts together",
    "rankoffset": "left out: lanes are numbered from 0",
    "start": "left out: hosts begin together, after a barrier",
    "phasedelay": "left out: phases follow each other directly",
    "nodelerr": "left out: what is to be removed is made before",
    "netdevs": "left out: the routes of the host decide",
    "sharesize": "left out: it is for --treefile",
    "treerand": "left out: it is for --treefile",
    "treeroundup": "left out: it is for --treefile",
    "treeroundrob": "left out: it is for --treefile",
    "cuhostbufreg": "left out: no data goes to memory of GPUs",
    "cufiledriveropen": "left out: no data goes to memory of GPUs",
    "gdsbufreg": "left out: no data goes to memory of GPUs",
    "gpuperservice": "left out: no data goes to memory of GPUs",
    "s3key": "no key is in a study: set AWS_ACCESS_KEY_ID where engines run",
    "s3secret": "no key is in a study: set AWS_SECRET_ACCESS_KEY where engines run",
    "s3sessiontoken": "no key is in a study: set AWS_SESSION_TOKEN where engines run",
    "s3credfile": "no key is in a study: write `profile` of the target",
    "s3credlist": "no key is in a study: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY where engines run",
    "s3aclget": "left out: requests about access rights are not measured",
    "s3aclput": "left out: requests about access rights are not measured",
    "s3aclputinl": "left out: requests about access rights are not measured",
    "s3aclverify": "left out: requests about access rights are not measured",
    "s3aclgrantee": "left out: requests about access rights are not measured",
    "s3aclgrants": "left out: requests about access rights are not measured",
    "s3aclgtype": "left out: requests about access rights are not measured",
    "s3baclget": "left out: requests about access rights are not measured",
    "s3baclput": "left out: requests about access rights are not measured",
    "s3btag": "left out: requests about tags are not measured",
    "s3btagverify": "left out: requests about tags are not measured",
    "s3otag": "left out: requests about tags are not measured",
    "s3otagverify": "left out: requests about tags are not measured",
    "s3bversion": "left out: write versioned: true in the target",
    "s3bversionverify": "left out: requests about versions are not measured",
    "s3olockcfg": "left out: requests about locks are not measured",
    "s3olockcfgverify": "left out: requests about locks are not measured",
    "s3statdirs": "left out: requests about buckets are not measured",
    "s3listverify": "left out: what a list should hold is not checked",
    "s3ignoreerrors": "left out: an error is always shown",
    "s3mpusizevar": "left out: all parts but the last have one size",
    "s3mpusplit": "left out: write part_size",
    "s3single": "each lane has a connection of its own for each request in flight",
    "s3maxconns": "each lane has a connection of its own for each request in flight",
    "s3targetgbps": "each lane has a connection of its own for each request in flight",
    "s3sign": "left out: requests are signed, their contents are not",
    "s3fastput": "left out: requests are signed, their contents are not",
}
"""Option -> what is different, for the head of a study."""

_HARMLESS = """
    allelapsed althttpsvc base10 cpu csvfile dirstats foreground jsonfile label lat lathisto latpercent
    latpercent9s live1 live1n livecsv livecsvex liveint livejson livejsonex log no0usecerr nocsvlabels nodetach
    nodiocheck nolive nopathexp opslog opsloglock port resfile svcelapsed svcping svcpwfile svcupint svcwait
    s3fastget s3log s3logprefix s3multiignore404 s3nocompress s3nompcheck clients clientsfile servers serversfile
    recvbuf sendbuf respsize
"""
HARMLESS = frozenset(_HARMLESS.split())
"""Options without effect on the work: what is printed and where, how services are reached, and what is of --netbench,
which is refused."""
