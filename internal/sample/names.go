package sample

import (
	"cmp"
	"fmt"
)

// domain is a namespace and what its services are about.
type domain struct{ name, noun string }

// domains are the namespaces, the popular ones first.
var domains = [...]domain{
	{"platform", "platform"},
	{"catalog", "catalog"},
	{"web", "web"},
	{"orders", "order"},
	{"checkout", "checkout"},
	{"identity", "identity"},
	{"pricing", "price"},
	{"inventory", "stock"},
	{"search", "search"},
	{"accounts", "account"},
	{"payments", "payment"},
	{"cart", "cart"},
	{"mobile", "mobile"},
	{"promotions", "promotion"},
	{"recommendations", "recommendation"},
	{"shipping", "shipment"},
	{"fraud", "risk"},
	{"tax", "tax"},
	{"profiles", "profile"},
	{"notifications", "notification"},
	{"media", "media"},
	{"content", "content"},
	{"warehouse", "warehouse"},
	{"logistics", "route"},
	{"billing", "invoice"},
	{"loyalty", "points"},
	{"giftcards", "giftcard"},
	{"subscriptions", "subscription"},
	{"reviews", "review"},
	{"wishlist", "wishlist"},
	{"returns", "return"},
	{"messaging", "message"},
	{"email", "email"},
	{"marketing", "campaign"},
	{"merchants", "merchant"},
	{"partners", "partner"},
	{"support", "ticket"},
	{"analytics", "event"},
	{"reporting", "report"},
	{"localization", "translation"},
}

// lastLayer is of what calls nobody.
const lastLayer = 5

// roles are what services do, by layer: pages, interfaces, rules, support, data
// and what data stands in.
var roles = [lastLayer + 1][]string{
	{"home", "product-page", "search-page", "cart-page", "checkout-page", "account-page", "order-page", "deals-page", "gift-page", "help-page", "store-page", "landing"},
	{"api", "facade", "workflow", "graphql", "gateway", "orchestrator"},
	{"rules", "calculator", "validator", "ranking", "planner", "matcher", "scheduler", "history", "quota", "resolver", "estimator", "composer"},
	{"writer", "reader", "indexer", "enricher", "projector", "importer", "exporter", "sync", "locator"},
	{"store", "ledger", "registry", "snapshots", "archive", "directory"},
	{"cache", "shards", "queue", "vectors", "counters"},
}

// platformNames are the services that nearly every other calls, then those that
// these rest on.
var platformNames = []struct {
	name  string
	layer int
}{
	{"config", 5},
	{"auth", 4},
	{"flags", 5},
	{"rate-limit", 4},
	{"audit-log", 4},
	{"token-issuer", 5},
	{"id-generator", 5},
	{"tenant-directory", 5},
	{"secrets-broker", 4},
	{"geo-ip", 5},
	{"experiments", 3},
	{"device-fingerprint", 3},
	{"pii-vault", 4},
	{"schema-registry", 5},
	{"event-router", 3},
	{"object-proxy", 4},
}

// platformShare is how many of a hundred services call the first of the
// platform.
var platformShare = [...]int{85, 70, 60, 20, 25}

// datedTenths is by how much the dated event multiplies a layer, in tenths:
// caches and batches absorb what pages are asked for.
var datedTenths = [lastLayer + 1]int{30, 25, 20, 20, 15, 15}

// externals are what lies outside of the cluster.
var externals = map[string]string{
	"payments": "external/api.card-network.example.com", "fraud": "external/scores.risk-bureau.example.com", "tax": "external/rates.tax-office.example.com",
	"shipping": "external/labels.parcel-carrier.example.com", "email": "external/smtp.mail-relay.example.com", "messaging": "external/sms.telco.example.com",
}

// shares are where calls come from, the common ones first.
var shares = [...]string{
	"{eu-west-1a: 0.34, eu-west-1b: 0.33, eu-west-1c: 0.33}",
	"{eu-west-1a: 0.35, eu-west-1b: 0.35, eu-west-1c: 0.3}",
	"{eu-west-1a: 0.4, eu-west-1b: 0.3, eu-west-1c: 0.3}",
	"{eu-west-1a: 0.5, eu-west-1b: 0.25, eu-west-1c: 0.25}",
	"{eu-west-1a: 0.8, eu-west-1b: 0.1, eu-west-1c: 0.1}",
}

// qualifiers tell services apart that do the same for others.
var qualifiers = [...]string{"", "-b2b", "-eu", "-us", "-apac", "-v2", "-batch", "-internal", "-legacy", "-live"}

// layers are those of a domain's services, one after the other; a worker has -1.
var (
	pageLayers   = [...]int{0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 1, 0, 5, -1}
	domainLayers = [...]int{1, 2, 3, 4, 2, 5, 3, 2, 4, 3, -1, 2, 1, 3, 2, 4, 3, 2, -1, 5}
)

// name adds the services of a domain.
func (m *mesh) name(d domain, count int) {
	used := map[string]int{}
	var inLayer [lastLayer + 1]int
	for i := range count {
		s := &service{namespace: d.name}
		s.layer, s.worker = layerOf(d, i)
		switch {
		case d.name == "platform" && i < len(platformNames):
			s.name, s.layer, s.worker = platformNames[i].name, platformNames[i].layer, false
		case s.worker:
			s.name = unique(used, d.noun+"-worker")
		default:
			role := roles[s.layer]
			s.name = unique(used, d.noun+"-"+role[inLayer[s.layer]%len(role)])
			s.stateful = s.layer == lastLayer && m.random.IntN(4) == 0
			inLayer[s.layer]++
		}
		m.services = append(m.services, s)
		m.members[d.name] = append(m.members[d.name], s)
	}
}

func layerOf(d domain, i int) (layer int, worker bool) {
	pages := d.name == "web" || d.name == "mobile" || d.name == "partners"
	layer = domainLayers[i%len(domainLayers)]
	if pages {
		layer = pageLayers[i%len(pageLayers)]
	}
	if layer < 0 {
		return 1, true
	}
	return layer, false
}

// unique is the name, qualified as often as it was used before.
func unique(used map[string]int, name string) string {
	n := used[name]
	used[name]++
	if n < len(qualifiers) {
		return name + qualifiers[n]
	}
	return fmt.Sprintf("%s%s-%d", name, qualifiers[n%len(qualifiers)], n/len(qualifiers))
}

func compare(x, y *service) int {
	return cmp.Or(cmp.Compare(x.namespace, y.namespace), cmp.Compare(x.name, y.name))
}
