package settings

import (
	_ "embed"
	"fmt"
)

var (
	//go:embed schema/config.json
	configSchema string
	//go:embed schema/theme.json
	themeSchema string
)

// Schema is the JSON schema of a file: "config" or "theme".
func Schema(of string) (string, error) {
	switch of {
	case "config":
		return configSchema, nil
	case "theme":
		return themeSchema, nil
	}
	return "", fmt.Errorf("no schema is called %q; there are config and theme", of)
}
