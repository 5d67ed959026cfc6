// The picture of the ground, made before the frames: see study.yaml.
#version 3.7;
global_settings { assumed_gamma 1.0 }
camera { orthographic location -z right x up y look_at 0 }
plane { z, 0
  pigment { granite scale 0.3 color_map { [0 rgb <0.1, 0.25, 0.05>] [0.6 rgb <0.3, 0.4, 0.1>] [1 rgb <0.5, 0.4, 0.2>] } }
  finish { ambient 1 diffuse 0 emission 0 }
}
