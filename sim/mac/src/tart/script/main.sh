# Dispatches the command.

[ "${1-}" != --version ] || {
  echo "$version"
  exit 0
}
command=${1-}
[ $# -eq 0 ] || shift
journal start "${CI+ci}" "${TART_REGISTRY_USERNAME-}" "${TART_NO_AUTO_PRUNE+no auto prune}" "$command" "$@"
finished() {
  code=${code-$?}
  journal end "$code"
  exit "$code"
}
trap finished EXIT
[ -d "$home/tmp" ] || mkdir -p "$home/tmp" 2>/dev/null || fail 1 "Error: $home cannot be made"
case $command in pull | clone) ;; *) collect_tmp ;; esac
behave "$command"
case $command in
  list | get | ip | pull | push | fqn | clone | set | rename | delete | prune | run | stop | suspend | exec) "tart_$command" "$@" ;;
  login | logout) ;;
  create | import | export) fail 1 "tart $command: this stand-in has no disks to work on" ;;
  *) usage_error "Unexpected argument '$command'" ;;
esac
hang_after "$command"
