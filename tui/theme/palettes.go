package theme

import (
	"fmt"
	"strings"
)

// Dark is the default. Good is blue-green, bad is orange-red, and they differ in brightness.
var Dark = Palette{Name: "dark", Background: 0x14171c, Foreground: 0xd5dae1, looks: [roleCount]look{
	Text:    {rgb: 0xd5dae1},
	Dim:     {c16: 90, c256: 245, rgb: 0x858f9c},
	Frame:   {c16: 90, c256: 240, rgb: 0x4b535f},
	Accent:  {c16: 96, c256: 117, rgb: 0x7cc7ff, attr: bold},
	OK:      {c16: 36, c256: 72, rgb: 0x5fae97},
	Busy:    {c16: 94, c256: 111, rgb: 0x8fb4ff},
	Waiting: {c16: 33, c256: 179, rgb: 0xe0b458},
	Failing: {c16: 91, c256: 209, rgb: 0xff7f5c, attr: bold},
	Unknown: {c16: 95, c256: 176, rgb: 0xd08fd6, attr: bold},
	Leader:  {c16: 93, c256: 221, rgb: 0xffd75e, attr: bold},
	Fault:   {c16: 35, c256: 212, rgb: 0xff87c3, attr: bold},
	Cause:   {c16: 96, c256: 159, rgb: 0xaee7ee},
	Title:   {c16: 97, c256: 255, rgb: 0xf2f5f8, attr: bold},
	Key:     {c16: 96, c256: 117, rgb: 0x7cc7ff},
}}

// Light is for bright backgrounds.
var Light = Palette{Name: "light", Background: 0xfbfaf7, Foreground: 0x24292f, looks: [roleCount]look{
	Text:    {rgb: 0x24292f},
	Dim:     {c16: 90, c256: 242, rgb: 0x666e78},
	Frame:   {c16: 37, c256: 249, rgb: 0xb9bec6},
	Accent:  {c16: 34, c256: 25, rgb: 0x0b5cad, attr: bold},
	OK:      {c16: 36, c256: 23, rgb: 0x1d7a63},
	Busy:    {c16: 34, c256: 26, rgb: 0x2f62c9},
	Waiting: {c16: 33, c256: 94, rgb: 0x875900},
	Failing: {c16: 31, c256: 160, rgb: 0xc22f12, attr: bold},
	Unknown: {c16: 35, c256: 90, rgb: 0x7d2d8f, attr: bold},
	Leader:  {c16: 33, c256: 94, rgb: 0x7f5600, attr: bold},
	Fault:   {c16: 95, c256: 162, rgb: 0xb8126e, attr: bold},
	Cause:   {c16: 36, c256: 24, rgb: 0x0d7480},
	Title:   {c16: 30, c256: 232, rgb: 0x0c0f12, attr: bold},
	Key:     {c16: 34, c256: 25, rgb: 0x0b5cad},
}}

// Contrast is for tired eyes and projectors: nothing below seven to one.
var Contrast = Palette{Name: "contrast", Background: 0x000000, Foreground: 0xffffff, looks: [roleCount]look{
	Text:    {c16: 97, c256: 231, rgb: 0xffffff},
	Dim:     {c16: 37, c256: 252, rgb: 0xd0d0d0},
	Frame:   {c16: 37, c256: 250, rgb: 0xbcbcbc},
	Accent:  {c16: 96, c256: 51, rgb: 0x00ffff, attr: bold},
	OK:      {c16: 36, c256: 80, rgb: 0x5fd7d7},
	Busy:    {c16: 94, c256: 117, rgb: 0x87d7ff},
	Waiting: {c16: 93, c256: 226, rgb: 0xffff00},
	Failing: {c16: 91, c256: 208, rgb: 0xff8700, attr: bold},
	Unknown: {c16: 35, c256: 219, rgb: 0xffafff, attr: bold},
	Leader:  {c16: 93, c256: 226, rgb: 0xffff00, attr: bold},
	Fault:   {c16: 95, c256: 213, rgb: 0xff87ff, attr: bold},
	Cause:   {c16: 96, c256: 159, rgb: 0xafffff},
	Title:   {c16: 97, c256: 231, rgb: 0xffffff, attr: bold},
	Key:     {c16: 96, c256: 51, rgb: 0x00ffff, attr: bold},
}}

// Safe keeps the states apart for eyes that lack one kind of cone: they differ in brightness and along blue and yellow as well as in hue. The colours are those of
// the palette of 256 that lie farthest apart in the eye that tells them worst.
var Safe = Palette{Name: "safe", Background: 0x101216, Foreground: 0xe4e4e4, looks: [roleCount]look{
	Text:    {rgb: 0xe4e4e4},
	Dim:     {c16: 90, c256: 246, rgb: 0x949494},
	Frame:   {c16: 90, c256: 240, rgb: 0x585858},
	Accent:  {c16: 97, c256: 231, rgb: 0xffffff, attr: bold},
	OK:      {c16: 36, c256: 66, rgb: 0x5f8787},
	Busy:    {c16: 96, c256: 123, rgb: 0x87ffff},
	Waiting: {c16: 33, c256: 228, rgb: 0xffff87},
	Failing: {c16: 91, c256: 196, rgb: 0xff0000, attr: bold},
	Unknown: {c16: 35, c256: 165, rgb: 0xd700ff, attr: bold},
	Leader:  {c16: 93, c256: 144, rgb: 0xafaf87, attr: bold},
	Fault:   {c16: 95, c256: 213, rgb: 0xff87ff, attr: bold},
	Cause:   {c16: 37, c256: 159, rgb: 0xafffff, attr: italic},
	Title:   {c16: 97, c256: 231, rgb: 0xffffff, attr: bold},
	Key:     {c16: 97, c256: 231, rgb: 0xffffff, attr: bold},
}}

// plain has weight only.
var plain = Palette{Name: "mono", Background: 0x14171c, Foreground: 0xd5dae1, looks: [roleCount]look{
	Dim: {attr: dim}, Frame: {attr: dim}, Accent: {attr: bold}, Failing: {attr: bold}, Unknown: {attr: bold}, Leader: {attr: bold}, Fault: {attr: bold},
	Title: {attr: bold}, Key: {attr: bold},
}}

// Palettes lists the palettes that come with the program.
func Palettes() []Palette { return []Palette{Dark, Light, Contrast, Safe, plain} }

// Names of the palettes that come with the program.
func Names() []string {
	var out []string
	for _, p := range Palettes() {
		out = append(out, p.Name)
	}
	return out
}

// Named finds a palette; "" is the dark one.
func Named(name string) (Palette, error) {
	if name == "" {
		return Dark, nil
	}
	for _, p := range Palettes() {
		if strings.EqualFold(p.Name, name) {
			return p, nil
		}
	}
	return Palette{}, fmt.Errorf("no theme is called %q; there are %s", name, strings.Join(Names(), ", "))
}
