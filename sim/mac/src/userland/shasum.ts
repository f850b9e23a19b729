import { quote } from './stub.ts';

/** shasum(1), the one of Perl that macOS ships; played by the tools of GNU, whose output is the same but for the name in errors. */
export const shasumTool = (real: string, gnu: boolean): string =>
  gnu
    ? `#!/bin/sh
algorithm=1
n=$#
while [ "$n" -gt 0 ]; do
  argument=$1
  shift && n=$((n - 1))
  case $argument in
    -a | --algorithm)
      algorithm=\${1-}
      shift && n=$((n - 1))
      ;;
    -a*) algorithm=\${argument#-a} ;;
    -c | --check | -b | -t) set -- "$@" "$argument" ;;
    -s | --status) set -- "$@" --status ;;
    -q | --quiet) set -- "$@" --quiet ;;
    -?*)
      printf 'Unknown option: %s\\nType shasum -h for help\\n' "\${argument#-}" >&2
      exit 1
      ;;
    *) set -- "$@" "$argument" ;;
  esac
done
case $algorithm in
  1 | 224 | 256 | 384 | 512) exec ${quote(real)}/sha"$algorithm"sum "$@" ;;
esac
printf 'shasum: Unrecognized algorithm\\n' >&2
exit 1
`
    : `#!/bin/sh
exec ${quote(`${real}/shasum`)} "$@"
`;
