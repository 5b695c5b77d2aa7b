// The page cache of one file: which pages are there, which are on their way, which
// have to be written. A page has one place, its number modulo the size, so that what
// a stream leaves behind is replaced oldest first.
#pragma once

#include <cstdint>
#include <vector>

namespace vringlab::sim {

using PageNumber = std::uint64_t;
inline constexpr std::uint64_t kCachePageBytes = 4096;

struct PageRange {
  PageNumber first = 0;
  PageNumber end = 0;  // one past the last

  std::uint64_t count() const { return end - first; }
  bool operator==(const PageRange&) const = default;
};

class PageCache {
 public:
  enum class State : std::uint8_t { kAbsent, kReading, kClean, kDirty };

  explicit PageCache(std::uint64_t pages) : places_(pages) {}

  State state(PageNumber page) const {
    const Place& place = places_[page % places_.size()];
    return place.page == page ? place.state : State::kAbsent;
  }
  std::uint64_t pages() const { return places_.size(); }

  // Is there a dirty page where this one has to go?
  bool displaces_dirty(PageNumber page) const { return displaces(page, State::kDirty); }
  // Is one read into that place?
  bool displaces_reading(PageNumber page) const { return displaces(page, State::kReading); }
  void set(PageNumber page, State state) {
    Place& place = places_[page % places_.size()];
    place = {page, state, place.page == page && place.marked};
  }
  // For pages whose state was `from`: others have been overwritten or replaced meanwhile.
  void change(const PageRange& range, State from, State to) {
    for (PageNumber page = range.first; page < range.end; ++page) {
      if (state(page) == from) places_[page % places_.size()].state = to;
    }
  }

  // Whoever meets this page should read further ahead.
  void mark(PageNumber page) { places_[page % places_.size()].marked = true; }
  bool take_mark(PageNumber page) {
    Place& place = places_[page % places_.size()];
    const bool marked = place.page == page && place.marked;
    if (marked) place.marked = false;
    return marked;
  }

 private:
  struct Place {
    PageNumber page = 0;
    State state = State::kAbsent;
    bool marked = false;
  };

  bool displaces(PageNumber page, State state) const {
    const Place& place = places_[page % places_.size()];
    return place.state == state && place.page != page;
  }

  std::vector<Place> places_;
};

// Reads of a file that go on where the last one ended fetch more than they need, twice
// as much each time, up to a limit; a mark in each window asks for the next one early.
class ReadAhead {
 public:
  explicit ReadAhead(std::uint64_t max_pages) : max_pages_(max_pages) {}

  // `page` was read.
  void meet(PageNumber page) { last_ = page + 1; }

  // What to fetch for a read of `wanted` whose first page is not there.
  PageRange miss(const PageRange& wanted) {
    const bool sequential = wanted.first == last_ || wanted.first == end_;
    if (!sequential) {
      window_ = 0;
      return wanted;
    }
    return next_window(wanted.first, wanted.count());
  }
  // What to fetch next, when a mark was met.
  PageRange ahead() { return next_window(end_, window_); }

 private:
  PageRange next_window(PageNumber first, std::uint64_t wanted) {
    window_ = window_ == 0 ? 4 * wanted : 2 * window_;
    if (window_ > max_pages_) window_ = max_pages_;
    end_ = first + (window_ > wanted ? window_ : wanted);
    return {first, end_};
  }

  std::uint64_t max_pages_;
  std::uint64_t window_ = 0;  // pages fetched last; 0: reads are not in sequence
  PageNumber last_ = 0;       // one past the page read last
  PageNumber end_ = 0;        // of the window fetched last
};

// Pages that have to be written, in the order they were dirtied, as ranges.
class DirtyPages {
 public:
  void add(PageNumber page) {
    ++added_;
    if (first_ < ranges_.size() && ranges_.back().end == page) {
      ++ranges_.back().end;
      return;
    }
    if (first_ == ranges_.size()) {
      ranges_.clear();
      first_ = 0;
    }
    ranges_.push_back({page, page + 1});
  }
  // The oldest, at most `max_pages` of them; empty if there are none.
  PageRange take(std::uint64_t max_pages) {
    if (first_ == ranges_.size()) return {};
    PageRange& oldest = ranges_[first_];
    const PageRange taken{oldest.first,
                          oldest.count() > max_pages ? oldest.first + max_pages : oldest.end};
    oldest.first = taken.end;
    if (oldest.count() == 0) drop_first();
    return taken;
  }
  bool empty() const { return first_ == ranges_.size(); }
  std::uint64_t added() const { return added_; }

 private:
  // What has been taken is thrown away once it is the larger part.
  void drop_first() {
    if (++first_ < 1024 || first_ < ranges_.size() / 2) return;
    ranges_.erase(ranges_.begin(), ranges_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }

  std::vector<PageRange> ranges_;
  std::size_t first_ = 0;    // of those not taken
  std::uint64_t added_ = 0;  // pages, ever
};

}  // namespace vringlab::sim
