package config

// Aliases are the other names, for the page of the settings.
var Aliases = aliases
