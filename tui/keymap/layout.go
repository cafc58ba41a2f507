package keymap

// jcuken is where the Russian layout has its letters on the keys of the Latin one.
var jcuken = func() map[rune]rune {
	const latin = "qwertyuiop[]asdfghjkl;'zxcvbnm,.QWERTYUIOP{}ASDFGHJKL:\"ZXCVBNM<>"
	russian := []rune("йцукенгшщзхъфывапролджэячсмитьбюЙЦУКЕНГШЩЗХЪФЫВАПРОЛДЖЭЯЧСМИТЬБЮ")
	m := map[rune]rune{}
	for i, r := range russian {
		m[r] = rune(latin[i])
	}
	return m
}()

// Latin is the key that lies where a Russian letter was typed, so that a keyboard left in the Russian layout works as well; other keys are their own.
func Latin(key string) string {
	r := []rune(key)
	if len(r) == 1 {
		if l, ok := jcuken[r[0]]; ok {
			return string(l)
		}
	}
	return key
}
