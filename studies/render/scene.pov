// A lawn of stones under a sky: what changes from frame to frame is the camera, by `clock`.
#version 3.7;
global_settings { assumed_gamma 1.0 }
#include "colors.inc"
#include "textures.inc"
#include "stones.inc"
#include "skies.inc"

camera { location <8 * sin(clock), 3, -8 * cos(clock)> look_at <0, 1, 0> angle 50 }
light_source { <20, 30, -20> White }
light_source { <-20, 15, -10> Gray40 }
sky_sphere { S_Cloud1 }

// The ground is a picture that each frame reads.
plane { y, 0
  pigment { image_map { png "ground.png" interpolate 2 } rotate 90 * x scale 4 }
}

#declare Stones = array[4] { T_Stone1, T_Stone8, T_Stone14, T_Stone24 }
#declare Place = seed(1);
#for (Number, 0, 23)
  sphere { <rand(Place) * 10 - 5, 0.5, rand(Place) * 10 - 5>, 0.3 + 0.3 * rand(Place)
    texture { Stones[mod(Number, 4)] scale 0.3 }
    finish { reflection 0.2 specular 0.4 }
  }
#end
