package sim

// task is a process to resume or a callback to run.
type task struct {
	proc *Proc
	fn   func()
}

// ring is a queue of tasks that reuses its memory.
type ring struct {
	buf        []task
	head, size int
}

func (r *ring) len() int { return r.size }

func (r *ring) push(t task) {
	if r.size == len(r.buf) {
		grown := make([]task, max(64, 2*len(r.buf)))
		n := copy(grown, r.buf[r.head:])
		copy(grown[n:], r.buf[:r.head])
		r.buf, r.head = grown, 0
	}
	r.buf[(r.head+r.size)%len(r.buf)] = t
	r.size++
}

func (r *ring) pop() task {
	t := r.buf[r.head]
	r.buf[r.head] = task{}
	r.head = (r.head + 1) % len(r.buf)
	r.size--
	return t
}
