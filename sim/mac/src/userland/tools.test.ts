import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { startTestMac } from '../testing/test-mac.ts';

interface Case {
  readonly command: string;
  readonly stdin?: string;
  readonly stdout: string | RegExp;
  readonly stderr?: RegExp;
  readonly code?: number;
  readonly source: string;
}

const text = 'one\ntwo\nthree\n';
const sha = '67a8f5e4a13d2be3ffb3aae3ee8e6fbbfe04eb5b0bd1fd1d3d1da16d9e1f5f3b';

/** Differences between BSD and GNU tools that scripts have hit. `source` is the manual page of macOS. */
const cases: readonly Case[] = [
  { command: 'timeout 1 true', stdout: '', stderr: /not found/, code: 127, source: 'not on macOS' },
  { command: 'flock -n x true', stdout: '', stderr: /not found/, code: 127, source: 'not on macOS' },
  { command: 'sha256sum f', stdout: '', stderr: /not found/, code: 127, source: 'not on macOS' },
  { command: 'setsid true', stdout: '', stderr: /not found/, code: 127, source: 'not on macOS' },
  { command: 'ip addr', stdout: '', stderr: /not found/, code: 127, source: 'not on macOS' },
  { command: 'systemctl status', stdout: '', stderr: /not found/, code: 127, source: 'not on macOS' },
  { command: 'perl -e 1', stdout: '', stderr: /not found/, code: 127, source: 'our scripts must not need it' },

  { command: 'sed -i s/one/1/ f', stdout: '', stderr: /sed/, code: 1, source: 'sed(1): f is read as the script' },
  { command: "sed -i '' s/one/1/ f && cat f", stdout: '1\ntwo\nthree\n', source: 'sed(1)' },
  { command: 'sed -i.bak s/one/1/ f && cat f f.bak', stdout: `1\ntwo\nthree\n${text}`, source: 'sed(1)' },
  { command: 'sed -n -e 2p f', stdout: 'two\n', source: 'sed(1)' },
  { command: "sed -E 's/(t)(w|h)/\\2\\1/' f", stdout: 'one\nwto\nhtree\n', source: 'sed(1)' },
  { command: "sed -n 's/^tw\\(.*\\)/\\1/p' -- f", stdout: 'o\n', source: 'sed(1)' },
  { command: "sed '1a after' f", stdout: '', stderr: /expected/, code: 1, source: 'sed(1): a needs \\ and a new line' },
  { command: 'sed --expression=p f', stdout: '', stderr: /illegal option/, code: 1, source: 'sed(1): no long options' },

  { command: "stat -f '%z %Su:%Sg %Lp' f", stdout: '14 m1:staff 644\n', source: 'stat(1)' },
  { command: "stat -f '%OLp %N' f", stdout: '644 f\n', source: 'stat(1)' },
  { command: "stat -f '%z\\t%N' f", stdout: '14\\tf\n', source: 'stat(1): no \\t' },
  { command: 'stat -f %Su "$TARTAN_ROOT/etc"', stdout: 'root\n', source: 'stat(1)' },
  { command: '[ "$(stat -f %i f)" = "$(ls -i f | cut -d" " -f1)" ] && echo same', stdout: 'same\n', source: 'stat(1)' },
  {
    command: 'touch -t 202601020304.05 f && TZ=UTC touch -t 202601020304.05 f && stat -f %m f',
    stdout: '1767323045\n',
    source: 'stat(1)',
  },
  { command: 'stat -c %s f', stdout: '', stderr: /illegal option -- c/, code: 1, source: 'stat(1)' },
  { command: 'stat -f %z nothing', stdout: '', stderr: /nothing.*No such file/, code: 1, source: 'stat(1)' },

  { command: 'ps -p $$ -o pid= | tr -d " " | grep -x $$ >/dev/null && echo me', stdout: 'me\n', source: 'ps(1)' },
  { command: 'ps -axo pid= | tr -d " " | grep -x $$ >/dev/null && echo me', stdout: 'me\n', source: 'ps(1)' },
  {
    command: `sh -c 'ps -p $$ -ww -o args=; :' '[x]' | tail -c 4`,
    stdout: '[x]\n',
    source: 'ps(1): brackets are also the name of a process without arguments',
  },
  {
    command: `ps -A -ww -o pid= | tr -d ' ' | grep -cx ${process.pid}`,
    stdout: '0\n',
    code: 1,
    source: 'ps(1): what runs on another machine is not seen',
  },
  { command: `ps -p ${process.pid}`, stdout: '', code: 1, source: 'ps(1): 1, and nothing, when there is none' },

  { command: 'printf hi | base64', stdout: 'aGk=\n', source: 'base64(1)' },
  { command: 'echo aGk= | base64 -D', stdout: 'hi', source: 'base64(1)' },
  { command: 'echo aGk= | base64 -d', stdout: 'hi', source: 'base64(1): current releases' },
  { command: 'base64 -i f -o g && base64 -D -i g', stdout: text, source: 'base64(1)' },
  { command: 'head -c 100 /dev/zero | base64 | wc -l | tr -d " "', stdout: '1\n', source: 'base64(1): no line breaks' },
  { command: 'base64 -w 0 f', stdout: '', stderr: /invalid option/, code: 64, source: 'base64(1)' },

  { command: 'date -r 0 -u +%Y-%m-%dT%H:%M:%SZ', stdout: '1970-01-01T00:00:00Z\n', source: 'date(1)' },
  { command: "date -j -u -f '%Y-%m-%d %H:%M:%S' '2026-01-02 03:04:05' +%s", stdout: '1767323045\n', source: 'date(1)' },
  { command: "date -j -f '%Y' nonsense +%s", stdout: '', stderr: /Failed conversion/, code: 1, source: 'date(1)' },
  { command: 'date -d @0', stdout: '', stderr: /illegal option -- d/, code: 1, source: 'date(1)' },
  { command: 'date --iso-8601', stdout: '', stderr: /illegal option/, code: 1, source: 'date(1)' },
  { command: 'date +%s', stdout: '1767225600\n', source: "by the Mac's clock" },
  { command: 'date -u -v-1d +%F', stdout: '2025-12-31\n', source: 'date(1)' },

  { command: 'shasum -a 256 f | cut -c 1-64', stdout: /^[\da-f]{64}\n$/, source: 'shasum(1)' },
  {
    command: 'printf abc | shasum -a 256',
    stdout: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  -\n',
    source: 'shasum(1)',
  },
  {
    command: 'printf abc | shasum',
    stdout: 'a9993e364706816aba3e25717850c26c9cd0d89d  -\n',
    source: 'shasum(1): SHA-1',
  },
  { command: 'shasum -a 256 f >sums && shasum -a 256 -c sums', stdout: 'f: OK\n', source: 'shasum(1)' },
  {
    command: `echo '${sha}  f' >sums; shasum -a 256 -c sums`,
    stdout: 'f: FAILED\n',
    stderr: /did NOT match/,
    code: 1,
    source: 'shasum(1)',
  },

  { command: 'df -g . | awk "NR == 2 { print \\$4 }"', stdout: '150\n', source: 'df(1)' },
  { command: 'df -kP "$TARTAN_ROOT/" | awk "NR == 2 { print \\$4 }"', stdout: '157286400\n', source: 'df(1)' },

  {
    command: 'install -m 700 f "$TARTAN_ROOT/usr/local/bin/f"',
    stdout: '',
    stderr: /^install: .*\/usr\/local\/bin\/INS@/,
    code: 71,
    source: 'install(1): garbled',
  },
  { command: 'mkdir d && install -m 700 f d/ && stat -f %Lp d/f', stdout: '700\n', source: 'install(1)' },

  { command: 'ls "$TARTAN_ROOT/usr/local"', stdout: '', source: 'macOS: no /usr/local/bin on a fresh image' },
  { command: 'readlink "$TARTAN_ROOT/etc" "$TARTAN_ROOT/tmp"', stdout: 'private/etc\nprivate/tmp\n', source: 'macOS' },
  {
    command: 'mkdir a && ln -s a link && touch g && ln -s b new && mv -fh new link && readlink link',
    stdout: 'b\n',
    source: 'mv(1)',
  },
  { command: 'mv -T f g', stdout: '', stderr: /illegal option/, code: 64, source: 'mv(1)' },

  { command: 'uname -s; uname -m', stdout: 'Darwin\narm64\n', source: 'uname(1)' },
  { command: 'id -u; id -un; id -u root; whoami', stdout: '501\nm1\n0\nm1\n', source: 'id(1)' },
  { command: 'id nobody-here', stdout: '', stderr: /no such user/, code: 1, source: 'id(1)' },
  {
    command: 'echo $PATH | sed "s|$TARTAN_ROOT||g"',
    stdout: '/usr/bin:/bin:/usr/sbin:/sbin\n',
    source: 'the PATH of sshd',
  },
  {
    command: '"$TARTAN_ROOT/bin/sleep" 0 && "$TARTAN_ROOT/usr/sbin/visudo"',
    stdout: '',
    stderr: /^usage: visudo/,
    code: 1,
    source: 'tools also lie where they are on a Mac',
  },
  { command: 'case $(mktemp) in "$TARTAN_ROOT"/*) echo inside ;; esac', stdout: 'inside\n', source: 'mktemp(1)' },
  { command: 'sync && sleep 0 && echo done', stdout: 'done\n', source: 'sync(8), sleep(1)' },
  { command: 'chown root f', stdout: '', stderr: /Operation not permitted/, code: 1, source: 'chown(8): only root' },
  { command: 'chown nobody-here f', stdout: '', stderr: /illegal user name/, code: 1, source: 'chown(8)' },
];

describe('the userland of a Mac', () => {
  test('behaves like BSD, and lacks what macOS lacks', async (t) => {
    const mac = await startTestMac(t, { clock: manualClock(1_767_225_600_000) });
    for (const [index, { command, stdout, stderr = /^$/, code = 0, source }] of cases.entries()) {
      await t.test(`${command} (${source})`, async () => {
        const folder = `"$HOME/case-${index}"`;
        const setUp = `mkdir ${folder} && cd ${folder} && printf 'one\\ntwo\\nthree\\n' >f\n`;
        const ended = await mac.run(`${setUp}${command}`);
        if (typeof stdout === 'string') assert.equal(ended.stdout, stdout, ended.stderr);
        else assert.match(ended.stdout, stdout);
        assert.match(ended.stderr, stderr);
        assert.equal(ended.code, code, ended.stderr);
      });
    }
  });
});
