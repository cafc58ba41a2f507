package mvcc

// answersKept is how many request ids, with their answers, the state remembers.
const answersKept = 10_000

// answer is what a request id was answered.
type answer struct {
	id     string
	result TxnResult
	sum    uint64
}

// answers remembers what was answered to the last answersKept requests. Refusals are remembered as well: who was told that a request changed nothing and never will must be able to rely on
// it, although a copy of the request may come out of the log again when there is space. Whoever wants to try once more uses a new id.
type answers struct {
	// all holds the newest ones at its end; it may hold older ones in front.
	all []answer
	// next is how many were ever remembered: the place of the next.
	next int64
}

// recent are those that count, and first is the place of the first of them.
func (a *answers) recent() (recent []answer, first int64) {
	recent = a.all[max(0, len(a.all)-answersKept):]
	return recent, a.next - int64(len(recent))
}

func (s *Store) remember(id string, r TxnResult) {
	a := &s.answers
	add := answer{id: id, result: r, sum: sumAnswer(a.next, id, &r)}
	s.byID[id] = a.next
	s.sum += add.sum
	a.all = append(a.all, add)
	a.next++
	if n := len(a.all) - answersKept; n > 0 {
		old := &a.all[n-1]
		s.sum -= old.sum
		if s.byID[old.id] == a.next-1-answersKept {
			delete(s.byID, old.id)
		}
		// Copying only every answersKept requests keeps this constant on average; frozen views keep the old array.
		if n >= answersKept {
			a.all = append([]answer(nil), a.all[n:]...)
		}
	}
}

// answered finds what was answered to a request id.
func (s *Store) answered(id string) (TxnResult, bool) {
	place, seen := s.byID[id]
	if !seen {
		return TxnResult{}, false
	}
	a := &s.answers
	return a.all[int64(len(a.all))-(a.next-place)].result, true
}

func (s *Store) forgetAnswers() {
	recent, _ := s.answers.recent()
	for i := range recent {
		s.sum -= recent[i].sum
	}
	s.answers = answers{}
	clear(s.byID)
}

// Reasons for which the state machine turns a transaction down, as they are written.
var refusals = []error{nil, ErrNoSpace, ErrLeaseNotFound}

func refusalOf(err error) int {
	for i, r := range refusals {
		if err == r {
			return i
		}
	}
	panic("mvcc: unknown refusal " + err.Error())
}
