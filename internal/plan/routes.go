package plan

func (b *builder) routes() {}
