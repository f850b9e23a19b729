import { quote } from './stub.ts';

/** mv(1) of BSD: -h replaces a symbolic link to a folder instead of moving into the folder, what GNU calls -T; no long options. */
export const mvTool = (real: string, gnu: boolean): string => `#!/bin/sh
case \${1:-} in
  -*[!fhinv]* | --*)
    printf 'mv: illegal option -- %s\\nusage: mv [-f | -i | -n] [-hv] source target\\n' "\${1#-}" >&2
    exit 64
    ;;
${
  gnu
    ? `  -h | -fh | -hf)
    shift
    set -- -fT "$@"
    ;;
`
    : ''
}esac
exec ${quote(`${real}/mv`)} "$@"
`;
