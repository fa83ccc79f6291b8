package policy

// Parse reads a policies file of this content, beside the built-in ones.
func Parse(name string, content []byte) (*Set, error) {
	s := BuiltIns()
	if err := s.add(name, content); err != nil {
		return nil, err
	}
	return s, nil
}
