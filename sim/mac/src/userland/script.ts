import { quote } from './tool-stubs.ts';

/**
 * How Apple's script(1) passes on its standard input (apple-oss-distributions/shell_cmds, shell_cmds-329, script/script.c:331-378): it
 * queues what it reads and writes it to the terminal in the next turn of its loop, but the end of the input is written at once, as the
 * terminal's EOF character. So an input that ends right after its last line reaches the command as EOF first and that line second.
 * util-linux, which does the rest here, writes EOF last.
 */
const appleInput = `
const [program, ...args] = process.argv.slice(1);
const child = require('node:child_process').spawn(program, args, { stdio: ['pipe', 'inherit', 'inherit'] });
const queue = [];
let turn;
const flush = () => {
  turn = undefined;
  child.stdin.write(Buffer.concat(queue.splice(0)));
};
child.stdin.on('error', () => {});
process.stdin.on('data', (bytes) => {
  queue.push(bytes);
  turn ??= setTimeout(flush, 300);
});
process.stdin.on('end', () => {
  clearTimeout(turn);
  child.stdin.write(String.fromCharCode(4));
  flush();
});
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code) => process.exit(code ?? 1));
`;

/**
 * script(1) of macOS: `script [-q] file command…` runs the command on its own terminal, types its standard input into it and prints what
 * the terminal shows, including the typed input. Uses the real one, whose arguments differ on Linux (util-linux: the command is one word
 * after -c).
 */
export const scriptTool = (real: string, gnu: boolean): string => `#!/bin/sh
while :; do
  case \${1:-} in
    -q) shift ;;
    -*)
      printf 'script: illegal option -- %s\\nusage: script [-adeFkpqr] [-t time] [file [command ...]]\\n' "\${1#-}" >&2
      exit 1
      ;;
    *) break ;;
  esac
done
file=\${1:-typescript}
[ $# = 0 ] || shift
${
  gnu
    ? `words=
for word; do
  words="$words '$(printf '%s' "$word" | ${quote(`${real}/sed`)} "s/'/'\\\\\\\\''/g")'"
done
exec ${quote(process.execPath)} -e ${quote(appleInput)} ${quote(`${real}/script`)} -q -e -c "$words" "$file"`
    : `exec ${quote(`${real}/script`)} -q "$file" "$@"`
}
`;
