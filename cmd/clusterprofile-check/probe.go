package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	inventoryv1alpha1 "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"

	"github.com/projectsveltos/libsveltos/lib/inventory"
)

// probeAll returns a row for each cluster, in the hub's order.
func (c *checker) probeAll(ctx context.Context, s *snapshot, p *progress) []Row {
	rows := make([]Row, len(s.clusters))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(c.parallel, len(rows)) {
		workers.Go(func() {
			for i := range next {
				rows[i] = c.probe(ctx, &s.clusters[i], &s.facts)
				p.done(rows[i].OK)
			}
		})
	}
	for i := range rows {
		next <- i
	}
	close(next)
	workers.Wait()
	return rows
}

// probe takes the way that a controller takes: access, credential, server.
func (c *checker) probe(ctx context.Context, cp *inventoryv1alpha1.ClusterProfile, f *facts) Row {
	r := newRow(cp, f)
	if !r.leftAlone {
		ctx, cancel := context.WithTimeout(ctx, c.timeout)
		defer cancel()
		if err := c.reach(ctx, cp, &r); err != nil {
			r.Problems = append(r.Problems, c.line(cp, err))
		}
	}
	r.OK = len(r.Problems) == 0
	return r
}

// reach fills the row as far as it gets.
func (c *checker) reach(ctx context.Context, cp *inventoryv1alpha1.ClusterProfile, r *Row) error {
	access, err := c.backend.Resolve(cp)
	if err != nil {
		return err
	}
	r.Provider = access.Provider
	begin := time.Now()
	cfg, err := c.backend.RestConfig(ctx, cp)
	r.Credential = &Credential{OK: err == nil, Seconds: time.Since(begin).Seconds()}
	if err != nil {
		return err
	}
	if expires := c.backend.CredentialExpiry(cp); !expires.IsZero() {
		r.Credential.Expires = &expires
	}
	r.Server = &Server{URL: access.Server}
	s, err := connect(cfg)
	if err != nil {
		return err
	}
	if r.Server.Version, _, err = s.version(ctx); err != nil {
		return fmt.Errorf("%s: %w", access.Server, err)
	}
	_, trip, err := s.version(ctx)
	r.Server.RoundTripSeconds = trip.Seconds()
	return err
}

// line is an error as one line, without the name of the profile that every row has.
func (c *checker) line(cp *inventoryv1alpha1.ClusterProfile, err error) string {
	text := strings.TrimPrefix(err.Error(), fmt.Sprintf("ClusterProfile %s/%s: ", cp.Namespace, cp.Name))
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, inventory.ErrPluginTimeout) {
		text += fmt.Sprintf(" (--timeout is %s)", c.timeout)
	}
	return oneLine(text)
}
