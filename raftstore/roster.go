package raftstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/raft"

	"example.com/kubeviz/raftstore/internal/peer"
)

// roster is what a cluster keeps about its members beside their disks: who they are, so that a start opens the right ones, and what must never be given twice. It is the content of
// members.json, which an earlier version wrote as the plain list of their names as long as they were never changed.
type roster struct {
	// Began lists the names the cluster was opened with for the first time, Places all that ever were members, in the order of their joining.
	Began  []string `json:"began"`
	Places []string `json:"places"`
	// Cluster tells this cluster from all others, also on each disk; empty in memory, and in what was begun before there was such a thing.
	Cluster string `json:"cluster,omitempty"`
	// Disks is what the places' disks have been through.
	Disks map[string]diskNote `json:"disks,omitempty"`
	// Founders are the members that an empty disk begins with, the same on all; Era counts how often the cluster began anew.
	Founders []Member `json:"founders"`
	Era      uint64   `json:"era,omitempty"`
	// Membership is the newest committed configuration that any member has seen.
	Membership `json:"membership"`
	// Incarnations is how many IDs each name has had.
	Incarnations map[string]int `json:"incarnations,omitempty"`
	// Floor is the revision that this era began at, after a restore or with nothing; Begin is what an empty log stands for: the same where it began with nothing, and 0 where the members'
	// first snapshot says what it began with.
	Floor int64 `json:"floor,omitempty"`
	Begin int64 `json:"begin,omitempty"`
}

// newRoster is that of a cluster that begins.
func newRoster(names []string) *roster {
	r := &roster{Began: slices.Clone(names), Places: slices.Clone(names), Incarnations: make(map[string]int)}
	for _, n := range names {
		r.Founders = append(r.Founders, Member{Name: n, ID: n})
		r.Incarnations[n] = 1
	}
	r.Membership = Membership{Members: slices.Clone(r.Founders), Index: 1, Term: 1}
	return r
}

// readRoster reads whose store a folder holds; nil: nobody's.
func readRoster(dir string) (*roster, error) {
	path := filepath.Join(dir, membersFile)
	text, err := peer.ReadRegular(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	if json.Unmarshal(text, &names) == nil && len(names) > 0 {
		return newRoster(names), nil
	}
	r := new(roster)
	if err := json.Unmarshal(text, r); err != nil || len(r.Places) == 0 || len(r.Founders) == 0 || len(r.Members) == 0 {
		return nil, fmt.Errorf("%s is damaged: it should list the members of the store that %s holds; %s", path, dir, withoutRoster(dir))
	}
	if r.Incarnations == nil {
		r.Incarnations = make(map[string]int)
	}
	return r, nil
}

// names of the members.
func (r *roster) names() []string {
	names := make([]string, len(r.Members))
	for i, m := range r.Members {
		names[i] = m.Name
	}
	return names
}

// opens tells whether a caller who asks for members of these names means this cluster. What counts is how many they are: as many as it has now, or as it began with. Which ones it has
// is for the folder to say, because members come and go, and a caller who only counts cannot know. One of them it must have had, or it is another cluster that is meant.
func (r *roster) opens(names []string) bool {
	return (len(names) == len(r.Members) || len(names) == len(r.Began)) && slices.ContainsFunc(names, func(n string) bool { return slices.Contains(r.Places, n) })
}

// refusal says what to do for who asks for others.
func (r *roster) refusal(dir string, names []string) error {
	now := r.names()
	holds := fmt.Sprintf("%s holds the store of %d masters (%s)", dir, len(now), strings.Join(now, ", "))
	if len(names) == len(now) || len(names) == len(r.Began) {
		return fmt.Errorf("%s, none of which is called %s; use another folder", holds, strings.Join(names, " or "))
	}
	if len(now) == len(r.Began) {
		return fmt.Errorf("%s, not of %d; ask for %d, or use another folder", holds, len(names), len(now))
	}
	return fmt.Errorf("%s, not of %d; ask for %d, or for %d as when it began, or use another folder; members come and go by member add and member remove", holds, len(names), len(now), len(r.Began))
}

// founders is what an empty disk begins with.
func (r *roster) founders() raft.Configuration { return configurationOf(r.Founders) }

func configurationOf(members []Member) raft.Configuration {
	var c raft.Configuration
	for _, m := range members {
		s := raft.Server{Suffrage: raft.Voter, ID: raft.ServerID(m.ID), Address: raft.ServerAddress(m.Name)}
		if m.Learner {
			s.Suffrage = raft.Nonvoter
		}
		c.Servers = append(c.Servers, s)
	}
	return c
}

func membershipOf(c *peer.Configuration) Membership {
	m := Membership{Index: c.Index, Term: c.Term}
	for _, s := range c.Servers {
		m.Members = append(m.Members, Member{Name: string(s.Address), ID: string(s.ID), Learner: s.Suffrage != raft.Voter})
	}
	return m
}

// nextID is the ID of a place's next incarnation.
func (r *roster) nextID(name string) string {
	r.Incarnations[name]++
	if n := r.Incarnations[name]; n > 1 {
		return fmt.Sprint(name, "#", n)
	}
	return name
}

// takeBack undoes nextID for an ID that nobody got.
func (r *roster) takeBack(name, id string) {
	n := r.Incarnations[name]
	if id == name && n == 1 || id == fmt.Sprint(name, "#", n) {
		r.Incarnations[name]--
	}
}

// saw makes sure that an ID found somewhere is not given again.
func (r *roster) saw(name, id string) {
	n := 1
	if number, ok := strings.CutPrefix(id, name+"#"); ok {
		n, _ = strconv.Atoi(number)
	}
	r.Incarnations[name] = max(r.Incarnations[name], n)
}

// clone copies what is changed in place.
func (r *roster) clone() *roster {
	cp := *r
	cp.Places, cp.Incarnations, cp.Disks = slices.Clone(r.Places), maps.Clone(r.Incarnations), maps.Clone(r.Disks)
	return &cp
}

// editRoster changes the roster and, where there is a folder, writes it down before anybody acts on it.
func (c *RaftCluster) editRoster(change func(*roster)) error {
	c.rostering.Lock()
	defer c.rostering.Unlock()
	r := c.roster.Load().clone()
	change(r)
	if !c.opt.InMemory {
		if err := r.write(c.opt.Dir, c.opt.Sync); err != nil {
			return err
		}
	}
	c.roster.Store(r)
	return nil
}

func (r *roster) write(dir string, sync bool) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := peer.WriteWhole(filepath.Join(dir, membersFile), text, sync); err != nil {
		return fmt.Errorf("note the members of the store: %w", err)
	}
	return nil
}

// places are all that there are, in the order given at start and then of their joining. The slice is never changed.
func (c *RaftCluster) places() []*member { return *c.members.Load() }

// find returns the place of a name; nil: there is none.
func (c *RaftCluster) find(name string) *member {
	for _, m := range c.places() {
		if m.name == name {
			return m
		}
	}
	return nil
}

// place returns the place of a name, which is made where there is none.
func (c *RaftCluster) place(name string) *member {
	c.placing.Lock()
	defer c.placing.Unlock()
	if m := c.find(name); m != nil {
		return m
	}
	m := &member{c: c, name: name, disk: c.newDisk(name)}
	all := append(slices.Clone(c.places()), m)
	c.members.Store(&all)
	return m
}

// configured takes in a configuration that is committed, as l has it. It tells the observer of each once, when the first member has it.
func (c *RaftCluster) configured(l *life, conf peer.Configuration) {
	m := membershipOf(&conf)
	for _, x := range m.Members {
		c.place(x.Name)
	}
	c.announcing.Lock()
	if kept := c.roster.Load(); l.who.Era == kept.Era && conf.Index > kept.Index {
		err := c.editRoster(func(r *roster) {
			r.Membership = m
			for _, x := range m.Members {
				r.saw(x.Name, x.ID)
				if !slices.Contains(r.Places, x.Name) {
					r.Places = append(r.Places, x.Name)
				}
			}
		})
		if err != nil {
			c.logger.Error("members of the store", "error", err)
		}
		c.opt.Observer.Changed(Change{Kind: MembersChanged, Membership: m})
	}
	c.announcing.Unlock()
	if _, in := conf.Find(l.who.ID); !in && conf.Index > l.who.Joined {
		l.goes("leave", func() { l.m.end(l, RemovedReason(l.m.name)) })
	}
}

// openRoster reads what the folder says of the members.
func (c *RaftCluster) openRoster() error {
	r, err := readRoster(c.opt.Dir)
	if err != nil || r == nil {
		return err
	}
	c.roster.Store(r)
	return nil
}
