package plan

func (b *builder) callees() {}
