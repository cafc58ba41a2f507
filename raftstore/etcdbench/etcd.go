package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	"go.uber.org/zap"
)

const etcdName = "etcd"

// etcdContender calls the servers directly, beneath gRPC: that is the fastest way to use etcd in one process. Its members talk over loopback
// sockets, as etcd has no other way.
type etcdContender struct {
	dir     string
	sync    bool
	peers   []url.URL
	clients []url.URL
	servers []*embed.Etcd
	// closing is closed when the ports and the folder of a killed member are free again.
	closing [members]chan struct{}
	stream  mvcc.WatchStream

	watching sync.Mutex
	watches  map[mvcc.WatchID]func(int)
}

func openEtcd(dir string, sync bool) (contender, error) {
	s := &etcdContender{dir: dir, sync: sync, servers: make([]*embed.Etcd, members)}
	for range members {
		for _, list := range []*[]url.URL{&s.peers, &s.clients} {
			u, err := loopback()
			if err != nil {
				return nil, err
			}
			*list = append(*list, u)
		}
	}
	errs := make(chan error, members)
	for i := range members {
		go func() { errs <- s.start(i) }()
	}
	var all error
	for range members {
		all = errors.Join(all, <-errs)
	}
	return s, all
}

// loopback is an address that nobody listens on at this moment.
func loopback() (url.URL, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return url.URL{}, err
	}
	defer l.Close()
	return url.URL{Scheme: "http", Host: l.Addr().String()}, nil
}

func (s *etcdContender) start(member int) error {
	if closing := s.closing[member]; closing != nil {
		<-closing
	}
	cfg := embed.NewConfig()
	cfg.Name = fmt.Sprint("m", member)
	cfg.Dir = filepath.Join(s.dir, cfg.Name)
	cfg.UnsafeNoFsync = !s.sync
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = s.peers[member:member+1], s.peers[member:member+1]
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = s.clients[member:member+1], s.clients[member:member+1]
	var initial []string
	for i := range members {
		initial = append(initial, fmt.Sprintf("m%d=%s", i, s.peers[i].String()))
	}
	cfg.InitialCluster = strings.Join(initial, ",")
	cfg.QuotaBackendBytes = 8 << 30
	cfg.LogLevel = "panic"
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	e, err := embed.StartEtcd(cfg)
	if err != nil {
		return err
	}
	s.servers[member] = e
	select {
	case <-e.Server.ReadyNotify():
		return nil
	case err := <-e.Err():
		return err
	case <-time.After(time.Minute):
		return errors.New("etcd is not ready within a minute")
	}
}

func (s *etcdContender) lead(ctx context.Context) (int, error) {
	for ctx.Err() == nil {
		for i, e := range s.servers {
			if e != nil && e.Server.Leader() == e.Server.MemberID() {
				return i, nil
			}
		}
		time.Sleep(time.Millisecond)
	}
	return 0, ctx.Err()
}

func (s *etcdContender) put(ctx context.Context, member int, key string, value []byte) error {
	_, err := s.servers[member].Server.Put(ctx, &pb.PutRequest{Key: []byte(key), Value: value})
	return err
}

func (s *etcdContender) get(ctx context.Context, member int, key string) error {
	_, err := s.servers[member].Server.Range(ctx, &pb.RangeRequest{Key: []byte(key)})
	return err
}

func (s *etcdContender) compact(ctx context.Context) error {
	leader, err := s.lead(ctx)
	if err != nil {
		return err
	}
	e := s.servers[leader].Server
	_, err = e.Compact(ctx, &pb.CompactionRequest{Revision: e.KV().Rev(), Physical: true})
	return err
}

// watch puts all watches into one stream, as one client of etcd would.
func (s *etcdContender) watch(ctx context.Context, member int, key string, deliver func(int)) error {
	s.watching.Lock()
	defer s.watching.Unlock()
	if s.stream == nil {
		s.stream = s.servers[member].Server.Watchable().NewWatchStream()
		s.watches = make(map[mvcc.WatchID]func(int))
		go func() {
			for r := range s.stream.Chan() {
				s.watching.Lock()
				tell := s.watches[r.WatchID]
				s.watching.Unlock()
				tell(len(r.Events))
			}
		}()
	}
	id, err := s.stream.Watch(ctx, 0, []byte(key), nil, 0)
	s.watches[id] = deliver
	return err
}

// kill stops the server without the transfer of leadership that Close begins with.
func (s *etcdContender) kill(member int) error {
	e := s.servers[member]
	s.servers[member] = nil
	e.Server.HardStop()
	closing := make(chan struct{})
	s.closing[member] = closing
	go func() {
		e.Close()
		close(closing)
	}()
	return nil
}

func (s *etcdContender) close() error {
	if s.stream != nil {
		s.stream.Close()
	}
	for _, e := range s.servers {
		if e != nil {
			e.Server.HardStop()
			e.Close()
		}
	}
	return nil
}
