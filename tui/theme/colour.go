package theme

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// first16 is what xterm shows for the first sixteen numbers.
var first16 = [16]uint32{0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
	0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff}

// xterm is what a number of the palette of 256 looks like, as 0xRRGGBB: sixteen that the user may have changed, a cube, and greys.
func xterm(n int) uint32 {
	switch {
	case n < 16:
		return first16[n]
	case n >= 232:
		return uint32(8+10*(n-232)) * 0x010101
	}
	level := [6]uint32{0, 95, 135, 175, 215, 255}
	n -= 16
	return level[n/36]<<16 | level[n/6%6]<<8 | level[n%6]
}

// sgr16 is the SGR number of one of the first sixteen.
func sgr16(n int) int {
	if n < 8 {
		return 30 + n
	}
	return 90 + n - 8
}

// lab is a colour in Oklab, where equal steps look equal. Source: Björn Ottosson, "A perceptual color space for image processing".
type lab [3]float64

// linear gives the light of a colour's three parts, 0 to 1.
func linear(c uint32) [3]float64 {
	var out [3]float64
	for i := range out {
		v := float64(c>>(16-8*i)&0xff) / 255
		if v <= 0.04045 {
			out[i] = v / 12.92
		} else {
			out[i] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	return out
}

func oklab(c [3]float64) lab {
	l := math.Cbrt(0.4122214708*c[0] + 0.5363325363*c[1] + 0.0514459929*c[2])
	m := math.Cbrt(0.2119034982*c[0] + 0.6806995451*c[1] + 0.1073969566*c[2])
	s := math.Cbrt(0.0883024619*c[0] + 0.2817188376*c[1] + 0.6299787005*c[2])
	return lab{0.2104542553*l + 0.7936177850*m - 0.0040720468*s, 1.9779984951*l - 2.4285922050*m + 0.4505937099*s, 0.0259040371*l + 0.7827717662*m - 0.8086757660*s}
}

func (a lab) distance(b lab) float64 {
	return math.Hypot(math.Hypot(a[0]-b[0], a[1]-b[1]), a[2]-b[2])
}

// nearest number between from and to (exclusive) to a colour.
func nearest(c uint32, from, to int) int {
	want := oklab(linear(c))
	best, at := math.Inf(1), from
	for n := from; n < to; n++ {
		if d := want.distance(oklab(linear(xterm(n)))); d < best {
			best, at = d, n
		}
	}
	return at
}

// mix goes a share of the way from one colour to another.
func mix(a, b uint32, share float64) uint32 {
	var out uint32
	for shift := 0; shift <= 16; shift += 8 {
		x, y := float64(a>>shift&0xff), float64(b>>shift&0xff)
		out |= uint32(x+(y-x)*share+0.5) << shift
	}
	return out
}

// hex reads #rrggbb.
func hex(s string) (uint32, error) {
	n, err := strconv.ParseUint(strings.TrimPrefix(s, "#"), 16, 32)
	if err != nil || len(s) != 7 || s[0] != '#' {
		return 0, fmt.Errorf("%q is not a colour such as #7cc7ff", s)
	}
	return uint32(n), nil
}
