"""topgap beside others who name the largest of many: time, growth, random bits and memory."""
