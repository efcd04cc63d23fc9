package report_test

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// tab is a tab of a headless Chromium, and what it complained of or asked for
// beside the page itself.
type tab struct {
	ctx context.Context

	mutex      sync.Mutex
	complaints []string
}

// open starts a browser of the test's own, and fails where there is none.
func open(t *testing.T) *tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox)
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, closeTab := chromedp.NewContext(ctx)
	t.Cleanup(closeTab)
	b := &tab{ctx: ctx}
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		t.Fatalf("no Chromium: %v", err)
	}
	return b
}

func (b *tab) hear(event any) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		b.complaints = append(b.complaints, "console: "+string(e.Type))
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, "exception: "+e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		b.complaints = append(b.complaints, "log: "+e.Entry.Text)
	case *network.EventRequestWillBeSent:
		if e.Request.URL != e.DocumentURL {
			b.complaints = append(b.complaints, "request: "+e.Request.URL)
		}
	}
}

// show loads a page at a width in pixels, in a colour scheme.
func (b *tab) show(t *testing.T, page string, width int64, scheme string) {
	t.Helper()
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, media); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(b.ctx, chromedp.EmulateViewport(width, 900), chromedp.Navigate("file://"+page)); err != nil {
		t.Fatal(err)
	}
}

// ask evaluates an expression in the page.
func ask[T any](t *testing.T, b *tab, expression string) T {
	t.Helper()
	answer, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return answer
}

// heard is what was complained of until now.
func (b *tab) heard() []string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.complaints
}

// The checks below say nothing unless a page that is wrong is noticed.
func TestAPageThatAsksForMoreIsNoticed(t *testing.T) {
	file := t.TempDir() + "/page.html"
	page := `<!doctype html><title>x</title><img src="missing.png"><script>console.error("no")</script>`
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	b := open(t)
	b.show(t, file, 390, "light")
	ask[string](t, b, "document.title")
	all := strings.Join(b.heard(), "\n")
	for _, want := range []string{"console: error", "request: file://"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not among %q", want, all)
		}
	}
}
