package plan

func (b *builder) spread() {}
