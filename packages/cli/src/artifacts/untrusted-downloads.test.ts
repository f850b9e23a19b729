import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { manualClock, systemClock } from '@tartan/kube/clock';
import { download } from './download.ts';
import { unsafeReason } from './extract.ts';
import { tarHeader, tarOf, tgzOf, zipOf } from './testing/archives.ts';
import { serveHttp, setUpArtifacts, sha256 } from './testing/fixtures.ts';

const tool = tgzOf([{ name: 'crane', content: 'crane' }]);
const lockOf =
  (content: Buffer, extra = 'take: [crane]') =>
  (url: string) =>
    `artifacts: [{ name: crane, version: 1.0.0, url: '${url}/crane', sha256: ${sha256(content)}, file: crane/crane, ${extra} }]`;

describe('failing downloads', () => {
  const cases: readonly [
    name: string,
    page: Parameters<typeof setUpArtifacts>[1][string] | undefined,
    message: RegExp,
  ][] = [
    [
      'something else',
      Buffer.from('not it'),
      /^crane: the download of .* has sha256 [0-9a-f]{64}, and the lock file sha256 [0-9a-f]{64}\. It was discarded\./,
    ],
    ['not there', undefined, /^crane: http.*\/crane answered 404/],
    [
      'cut short',
      (_request, response) =>
        response.writeHead(200, { 'content-length': tool.length }).write(tool.subarray(0, 9), () => response.destroy()),
      /^crane: /,
    ],
    [
      'truncated without a content-length',
      (_request, response) => response.end(tool.subarray(0, 9)),
      /and the lock file/,
    ],
    ['an error', (_request, response) => response.writeHead(500).end(), /answered 500/],
    [
      'far too much',
      (_request, response) => response.writeHead(200, { 'content-length': 2 ** 40 }).write('x'),
      /more than 536870912 bytes/,
    ],
    [
      'leads in circles',
      (_request, response) => response.writeHead(302, { location: '/crane' }).end(),
      /more than 10 redirects/,
    ],
    [
      'leads out of https',
      (_request, response) => response.writeHead(302, { location: 'http://example.com/' }).end(),
      /http:\/\/example\.com\/ is not https/,
    ],
  ];
  for (const [name, page, message] of cases)
    test(name, async (t) => {
      const { fetch, tree } = await setUpArtifacts(t, page === undefined ? {} : { '/crane': page }, lockOf(tool));
      const { code, out, err } = await fetch();
      assert.deepEqual([code, out], [1, '']);
      assert.match(err, message);
      assert.deepEqual(await tree(), []);
    });

  test('redirects are followed without forwarding headers to another origin', async (t) => {
    const seen: (string | undefined)[] = [];
    const elsewhere = await serveHttp(t, (request, response) => {
      seen.push(request.headers.authorization);
      response.end(tool);
    });
    const { fetch, asked } = await setUpArtifacts(
      t,
      { '/crane': (_request, response) => response.writeHead(307, { location: `${elsewhere}/x` }).end() },
      lockOf(tool, 'take: [crane], bottle: arm64_sonoma'),
    );
    assert.equal((await fetch()).code, 0);
    assert.deepEqual(asked, ['GET /crane Bearer QQ==']);
    assert.deepEqual(seen, [undefined]);
  });

  test('proxies from the environment are used', async (t) => {
    const { fetchWith, asked, url, files } = await setUpArtifacts(t, { '/crane': tool }, lockOf(tool));
    const proxied: (string | undefined)[] = [];
    const proxy = await serveHttp(t, (request, response) => {
      proxied.push(request.url);
      response.end(tool);
    });
    const fetched = await fetchWith({ HTTP_PROXY: proxy });
    assert.deepEqual([fetched.code, fetched.err], [0, '']);
    assert.deepEqual([proxied, asked], [[`${url}/crane`], []]);
    await rm(files, { recursive: true });
    assert.equal((await fetchWith({})).code, 0);
    assert.deepEqual([proxied.length, asked.length], [1, 1]);
  });

  test('a stalled download is aborted', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'tartan-stall-'));
    t.after(() => rm(folder, { recursive: true }));
    const url = await serveHttp(t, (_request, response) => {
      response.writeHead(200, { 'content-length': 100 }).write('some');
    });
    const clock = manualClock();
    const came = new EventTarget();
    const received = once(came, 'some');
    const signal = new AbortController().signal;
    const onProgress = () => came.dispatchEvent(new Event('some'));
    const got = download({ url, headers: {}, to: join(folder, 'x'), kind: 'sha256' }, { clock, signal, onProgress });
    const failed = assert.rejects(got, /sent no data for 30 seconds/);
    await received;
    clock.advance(30_000);
    await failed;
  });

  test('an interrupted download is reported', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'tartan-stop-'));
    t.after(() => rm(folder, { recursive: true }));
    const stop = new AbortController();
    const url = await serveHttp(t, () => stop.abort());
    const got = download(
      { url, headers: {}, to: join(folder, 'x'), kind: 'sha256' },
      { clock: systemClock, signal: stop.signal },
    );
    await assert.rejects(got, /^Error: stopped\.$/);
  });
});

describe('malicious archives', () => {
  const outside = '../../../../tmp/tartan-was-here';
  const taking: readonly [name: string, archive: Buffer, message: RegExp][] = [
    [
      'the member is a link',
      tgzOf([{ name: 'crane', type: '2', target: '/etc/passwd' }]),
      /crane in the archive is not a file/,
    ],
    [
      'the member is there twice',
      tgzOf([
        { name: 'crane', content: 'a' },
        { name: './crane', content: 'b' },
      ]),
      /the archive has crane twice/,
    ],
    [
      'only a path that leads to it',
      tgzOf([
        { name: `../crane`, content: 'a' },
        { name: 'x/../crane', content: 'b' },
      ]),
      /the archive has no crane/,
    ],
    ['no archive at all', Buffer.from('#!/bin/sh\necho crane\n'), /incorrect header check/],
    ['packed, but no tar', gzipSync(Buffer.alloc(1024, 'x')), /not a tar archive/],
    [
      'a tar that ends early',
      gzipSync(Buffer.concat([tarHeader('crane', 5000), Buffer.alloc(512)])),
      /archive is truncated/,
    ],
    [
      'a header that is far too long',
      gzipSync(Buffer.concat([tarHeader('x', 2 ** 24, 'x'), Buffer.alloc(512)])),
      /a header that is too long/,
    ],
    [
      'a record without a length',
      tgzOf([{ name: 'x', type: 'x', content: '0 path=crane\n' }, { name: 'crane' }]),
      /invalid header/,
    ],
    [
      'a zip with it as a link',
      zipOf([{ name: 'crane', content: '/etc/passwd', mode: 0o120777 }]),
      /crane in the archive is not a file/,
    ],
    [
      'a zip with it twice',
      zipOf([
        { name: 'crane', content: 'a' },
        { name: 'crane', content: 'b' },
      ]),
      /the archive has crane twice/,
    ],
    [
      'a zip with paths',
      zipOf([
        { name: outside, content: 'a' },
        { name: '/crane', content: 'a' },
      ]),
      /the archive has no crane/,
    ],
    [
      'a zip that lies about its content',
      zipOf([{ name: 'crane', content: 'a', sum: 7 }]),
      /crane in the archive does not match its index/,
    ],
    ['a zip that ends early', zipOf([{ name: 'crane', content: 'a' }]).subarray(0, 40), /not a zip archive/],
  ];
  for (const [name, archive, message] of taking)
    test(name, async (t) => {
      const { fetch, tree } = await setUpArtifacts(t, { '/crane': archive }, lockOf(archive));
      const { code, err } = await fetch();
      assert.equal(code, 1);
      assert.match(err, message);
      assert.deepEqual(await tree(), []);
    });

  test('other members of the archive are never written', async (t) => {
    const archive = tgzOf([
      { name: outside, content: 'a' },
      { name: '/crane', content: 'b' },
      { name: 'crane', content: 'c' },
    ]);
    const { fetch, tree } = await setUpArtifacts(t, { '/crane': archive }, lockOf(archive));
    assert.equal((await fetch()).code, 0);
    assert.deepEqual(await tree(), ['crane/crane', 'fetched.json']);
  });

  test('long names in pax and GNU headers are read', async (t) => {
    const name = `${'long/'.repeat(30)}crane`;
    // The length counts its own digits.
    const record = (text: string): string => `${text.length + 2 + String(text.length + 4).length} ${text}
`;
    for (const member of [
      { name: 'x', type: 'x', content: record(`comment=a\n12 path=no`) + record(`path=${name}`) },
      { name: '././@LongLink', type: 'L', content: `${name}\0` },
    ]) {
      const archive = gzipSync(tarOf([member, { name: 'short', content: 'c' }]));
      const { fetch } = await setUpArtifacts(t, { '/crane': archive }, lockOf(archive, `take: ['${name}']`));
      const { code, err } = await fetch();
      assert.deepEqual([code, err], [0, '']);
    }
  });

  const links = new Set(['lib/current']);
  const whole: readonly [
    name: string,
    type: 'file' | 'folder' | 'symlink' | 'hardlink' | 'other',
    target: string,
    isFine: boolean,
  ][] = [
    ['bin/runsvc.sh', 'file', '', true],
    ['externals/node20/bin/npm', 'symlink', '../lib/node_modules/npm/bin/npm-cli.js', true],
    ['lib/current', 'symlink', 'v2', true],
    ['bin/again', 'hardlink', 'bin/runsvc.sh', true],
    ['/etc/passwd', 'file', '', false],
    ['../x', 'file', '', false],
    ['bin/../../x', 'file', '', false],
    ['bin/x', 'symlink', '/etc/passwd', false],
    ['bin/x', 'symlink', '../../x', false],
    ['bin/x', 'symlink', 'lib/current/../../x', false],
    ['bin/x', 'hardlink', '../x', false],
    ['lib/current/x', 'file', '', false],
    ['dev/disk0', 'other', '', false],
    ['', 'file', '', false],
  ];
  for (const [name, type, target, isFine] of whole)
    test(`an archive that is fully unpacked ${isFine ? 'may' : 'may not'} contain ${type} ${JSON.stringify(name)} ${target}`, () =>
      assert.equal(unsafeReason({ name, type, target }, links) === undefined, isFine));

  test('an archive that is stored packed is checked', async (t) => {
    const bad = tgzOf([
      { name: 'config.sh', content: 'x' },
      { name: outside, content: 'x' },
    ]);
    const one = await setUpArtifacts(t, { '/crane': bad }, lockOf(bad, 'holds: config.sh'));
    assert.match((await one.fetch()).err, /would write "\.\.\/.*" outside of its folder/);
    const empty = tgzOf([{ name: 'other.sh', content: 'x' }]);
    const another = await setUpArtifacts(t, { '/crane': empty }, lockOf(empty, 'holds: config.sh'));
    assert.match((await another.fetch()).err, /the archive has no config\.sh/);
    assert.deepEqual(await another.tree(), []);
  });
});
