package plan

func (b *builder) scaling() {}
