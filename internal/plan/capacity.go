package plan

func (b *builder) capacity() {}
