package simulate

// ForText is forText, for the property that it decides as the whole policy does; Quantile is quantile.
var (
	ForText  = forText
	Quantile = quantile
)
