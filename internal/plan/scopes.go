package plan

func (b *builder) scopes() {}
