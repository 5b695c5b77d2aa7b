# Writes OUT, which defines vringlab::bindings::model_hash: the SHA-256 of the sources below ROOT that
# a result can depend on. Run with cmake -P; names are relative, so that a checkout's place is no part.
file(GLOB_RECURSE sources RELATIVE ${ROOT} ${ROOT}/core/*.h ${ROOT}/core/*.cc ${ROOT}/sim/*.h
     ${ROOT}/sim/*.cc)
list(FILTER sources EXCLUDE REGEX "\\.(test|perf|fuzz)\\.cc$")
list(SORT sources)
set(hashes "")
foreach(source IN LISTS sources)
  file(SHA256 ${ROOT}/${source} hash)
  string(APPEND hashes "${hash} ${source}\n")
endforeach()
string(SHA256 model_hash "${hashes}")
file(WRITE ${OUT} "namespace vringlab::bindings {
extern const char* const model_hash;
const char* const model_hash = \"${model_hash}\";
}  // namespace vringlab::bindings
")
