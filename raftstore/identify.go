package raftstore

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.com/kubeviz/raftstore/internal/peer"
)

// Whose a disk is. Three things say it: the roster, which disk each place had and that a member lived on it (diskNote); the disk, who votes there (identity.json); and marks on the disk and beside
// it, that it was used. A member that acknowledged something may come back only with what it acknowledged. So the roster decides: where it says that the one that is a member now has lived at its place,
// its own disk must lie there, and nothing else will do: not an empty place, not the disk of another place, of another cluster, of an earlier member, nor one whose identity does not read. Such a member
// is refused by name and nothing is touched, so that the folder can be put back. Where the member has not lived yet (it has just been founded, added, or begun anew by a restore or after the last
// wipe), it promised nothing: whatever is found there is not its, is set aside, and it begins empty.
//
// On the way the order is: the roster is there before any folder; a folder has its identity before anything else; and all marks, the roster's last, are made before the first thing
// is acknowledged. A crash leaves the beginning of that, which is gone on with. An older copy of the same disk under the same identity is not found out, as it is not in etcd.

// diskNote is what the roster says of the disk of a place: who lived there last, and what became of the disk.
type diskNote struct {
	peer.Identity
	peer.Marks
}

// same tells whether both are one member in one era. Since when each takes part is not compared.
func same(a, b peer.Identity) bool { return a.ID == b.ID && a.Era == b.Era && a.Cluster == b.Cluster }

// identityOf is who a member of the present era is.
func (r *roster) identityOf(x Member) peer.Identity {
	return peer.Identity{ID: x.ID, Era: r.Era, Cluster: r.Cluster}
}

// noteDisk notes what a disk has been through, in a roster that is being changed.
func (r *roster) noteDisk(name string, n diskNote) {
	if r.Disks == nil {
		r.Disks = make(map[string]diskNote)
	}
	if n.Marks == (peer.Marks{}) {
		delete(r.Disks, name)
		return
	}
	r.Disks[name] = n
}

// register is the roster as what keeps the marks of a disk.
type register struct {
	c    *RaftCluster
	name string
	disk *peer.Disk
}

// Marks is what the roster says of the disk.
func (r register) Marks() peer.Marks { return r.c.roster.Load().Disks[r.name].Marks }

// SetMarks notes them for who votes on the disk, as it says itself, or where it says nothing, as the roster does.
func (r register) SetMarks(m peer.Marks) error {
	kept := r.c.roster.Load()
	note := diskNote{Marks: m}
	if who, err := r.disk.Identity(); err == nil && who.ID != "" {
		note.Identity = who
	} else if x, in := kept.Find(r.name); in {
		note.Identity = kept.identityOf(x)
	}
	had, noted := kept.Disks[r.name]
	if noted && had == note || !noted && m == (peer.Marks{}) {
		return nil
	}
	return r.c.editRoster(func(next *roster) { next.noteDisk(r.name, note) })
}

// lived tells whether one that is a member now has lived at its place, and what of it.
func (r *roster) lived(x Member) (peer.Marks, bool) {
	note, noted := r.Disks[x.Name]
	return note.Marks, noted && same(note.Identity, r.identityOf(x))
}

// identify finds out who votes on the disk, or that it is not the one that should be there. The member must be down.
func (m *member) identify() (peer.Identity, error) {
	kept := m.c.roster.Load()
	in, member := kept.Find(m.name)
	who, err := m.disk.Identity()
	if !member {
		if err == nil && who.ID == "" {
			err = errors.New(RemovedReason(m.name))
		}
		return who, err // if it was removed the others will tell it so
	}
	want := kept.identityOf(in)
	if err == nil && same(who, want) {
		return who, nil
	}
	if !kept.founds(in) || who.ID != "" && who.Cluster == want.Cluster && who.ID != want.ID {
		want.Joined = kept.Index
	}
	marks, lived := kept.lived(in)
	switch {
	case lived && (marks.Used || !m.disk.Gone() && (err != nil || who.ID != "" || m.disk.Holds())):
		return who, m.misplaced(kept, who, err)
	case lived: // it was wiped, and of that nothing is left but the word of the roster
		if err := m.disk.SetIdentity(want); err != nil {
			return who, err
		}
		return want, m.disk.Rejoining(true)
	case err == nil && !m.disk.Used() && (m.wasHere(who, kept) || !m.disk.Holds()): // nobody acknowledged anything on it
		return want, m.disk.Wipe(false, want)
	}
	where, err := m.disk.SetAside()
	if err != nil {
		return who, fmt.Errorf("set aside what lies in the place of %s and is not its: %w", m.name, err)
	}
	m.c.opt.Observer.Changed(Change{Kind: SetAside, Member: m.name, Text: where})
	return want, m.disk.SetIdentity(want)
}

// misplaced says what is there instead of the member's own disk.
func (m *member) misplaced(kept *roster, who peer.Identity, unread error) error {
	in, _ := kept.Find(m.name)
	what := ""
	owner, number := incarnation(who.ID)
	_, own := incarnation(in.ID)
	switch {
	case m.disk.Gone():
		what = "is gone, folder and all"
	case unread != nil:
		return unread
	case who.ID == "":
		what = "does not say whose it is: its identity.json is gone"
	case who.Cluster != kept.Cluster:
		what = "is that of " + owner + " in another cluster"
	case owner != m.name:
		what = "is that of " + owner
	case who.Era > kept.Era || who.Era == kept.Era && number > own:
		what = "is newer than what members.json says of it"
	default:
		what = "is one that it had before, and that was set aside or replaced since"
	}
	return fmt.Errorf("%w: the disk of %s %s; its own can be put back", peer.ErrDamaged, m.name, what)
}

// incarnation takes an ID apart: whose it is, and the how manyth.
func incarnation(id string) (name string, number int) {
	name, text, again := strings.Cut(id, "#")
	if !again {
		return name, 1
	}
	number, _ = strconv.Atoi(text)
	return name, number
}

// allGone refuses a store of which nothing is left that could serve: no voter that has lived has its own disk.
func (c *RaftCluster) allGone() error {
	kept := c.roster.Load()
	var first error
	for _, x := range kept.Members {
		if x.Learner {
			continue
		}
		m := c.find(x.Name)
		who, err := m.disk.Identity()
		if marks, lived := kept.lived(x); !lived || !marks.Used || err != nil || same(who, kept.identityOf(x)) {
			return nil
		}
		if first == nil {
			first = m.misplaced(kept, who, err)
		}
	}
	return fmt.Errorf("%s held the store of %s, and none has its disk any more (%w): put the disks back; or begin anew in another folder, or in this one when the whole of it is deleted, "+
		"where a backup can be restored", c.opt.Dir, strings.Join(kept.names(), ", "), first)
}

// noteUsed takes into the roster what an earlier version noted beside the disks alone.
func (c *RaftCluster) noteUsed() error {
	kept := c.roster.Load()
	if kept.Disks != nil || kept.Cluster != "" {
		return nil
	}
	notes := make(map[string]diskNote)
	for _, x := range kept.Members {
		if d := c.find(x.Name).disk; d.Used() || d.Wiped() {
			notes[x.Name] = diskNote{kept.identityOf(x), peer.Marks{Used: d.Used(), Wiped: d.Wiped()}}
		}
	}
	if len(notes) == 0 {
		return nil
	}
	return c.editRoster(func(r *roster) { r.Disks = notes })
}

// wasHere tells whether an identity is that of one who is or was a member at this place.
func (m *member) wasHere(who peer.Identity, kept *roster) bool {
	owner, _ := incarnation(who.ID)
	return owner == m.name && who.Cluster == kept.Cluster && who.Era <= kept.Era
}

// keeps is who votes on the disk when it has been wiped: who did before, unless that is one who has no place there; then it is the member.
func (m *member) keeps() peer.Identity {
	kept := m.c.roster.Load()
	in, member := kept.Find(m.name)
	who, err := m.disk.Identity()
	if !member || err == nil && m.wasHere(who, kept) {
		return who
	}
	want := kept.identityOf(in)
	if !kept.founds(in) {
		want.Joined = kept.Index
	}
	return want
}

// founds tells whether the cluster began with a member.
func (r *roster) founds(x Member) bool {
	return slices.ContainsFunc(r.Founders, func(f Member) bool { return f.ID == x.ID })
}
