import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Duplex, duplexPair } from 'node:stream';
import { describe, test } from 'node:test';
import { constants, createInflate } from 'node:zlib';
import { manualClock, systemClock } from '@tartan/kube/clock';
import fc from 'fast-check';
import { createHeaderWriter, createSpdyPeer } from '../testing/spdy-peer.ts';
import { serveSpdy, type SpdyStream } from './connection.ts';
import { createFrameParser, formatData, formatPing, formatReset, formatSyn, type Frame, SpdyError } from './frames.ts';
import { createEmptyHeaders, createHeaderReader, dictionary, parseHeaders } from './header-block.ts';

const adler32 = (bytes: Buffer): number => {
  let [a, b] = [1, 0];
  for (const byte of bytes) {
    a = (a + byte) % 65_521;
    b = (b + a) % 65_521;
  }
  return ((b << 16) | a) >>> 0;
};

/** Merges the pieces of one data frame. */
const merged = (frames: readonly Frame[]): Frame[] => {
  const result: Frame[] = [];
  let open = false;
  for (const frame of frames) {
    const last = result.at(-1);
    if (open && frame.kind === 'data' && last?.kind === 'data' && last.streamId === frame.streamId && !last.fin) {
      result[result.length - 1] = { ...frame, bytes: Buffer.concat([last.bytes, frame.bytes]) };
    } else result.push(frame);
    open = frame.kind === 'data';
  }
  return result;
};

describe('SPDY frames', () => {
  test('use the dictionary of the SPDY/3 specification', () => {
    assert.equal(dictionary.length, 1423);
    assert.equal(adler32(dictionary), 0xe3c6a7c2);
  });

  test('do not depend on chunk boundaries', () => {
    const id = fc.integer({ min: 1, max: 0x7fffffff });
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 50 }).map((each) => Buffer.from(each));
    const frame = fc.oneof(
      fc.record(
        { kind: fc.constant('syn' as const), streamId: id, fin: fc.boolean(), headerBlock: bytes },
        { noNullPrototype: true },
      ),
      // With `fin`, so that two frames are not merged as pieces of one.
      fc.record(
        { kind: fc.constant('data' as const), streamId: id, fin: fc.constant(true), bytes },
        { noNullPrototype: true },
      ),
      fc.record({ kind: fc.constant('reset' as const), streamId: id }, { noNullPrototype: true }),
      fc.record({ kind: fc.constant('ping' as const), id }, { noNullPrototype: true }),
    );
    const format = (each: Frame): Buffer => {
      if (each.kind === 'syn') return formatSyn(each.streamId, each.headerBlock, each.fin);
      if (each.kind === 'data') return formatData(each.streamId, each.bytes, each.fin);
      if (each.kind === 'reset') return formatReset(each.streamId);
      return formatPing(each.kind === 'ping' ? each.id : 0);
    };
    fc.assert(
      fc.property(fc.array(frame), fc.array(fc.integer({ min: 1, max: 20 })), (frames, cuts) => {
        const all = Buffer.concat(frames.map(format));
        const parse = createFrameParser();
        const parsed: Frame[] = [];
        let at = 0;
        for (const cut of cuts) {
          parsed.push(...parse(all.subarray(at, at + cut)));
          at += cut;
        }
        parsed.push(...parse(all.subarray(at)));
        assert.deepEqual(merged(parsed), frames);
      }),
    );
  });

  test('that are malformed are rejected', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (chunks) => {
        const parse = createFrameParser();
        try {
          for (const chunk of chunks) parse(Buffer.from(chunk));
        } catch (error) {
          assert.ok(error instanceof SpdyError);
        }
      }),
    );
  });

  test('above the size limit are rejected', () => {
    const parse = createFrameParser();
    assert.throws(() => parse(Buffer.from('8003000100ffffff', 'hex')), /too long/);
  });

  test('pass data on before a frame is complete', () => {
    const parse = createFrameParser();
    const huge = Buffer.concat([Buffer.from('0000000101ffffff', 'hex'), Buffer.from('begin')]);
    assert.deepEqual(parse(huge), [{ kind: 'data', streamId: 1, fin: false, bytes: Buffer.from('begin') }]);
  });
});

describe('SPDY headers', () => {
  test('share one compression window per connection', async () => {
    const write = createHeaderWriter();
    const reader = createHeaderReader();
    for (const type of ['error', 'stdin', 'stdout']) {
      const headers = await reader.read(await write({ StreamType: type, port: '80' }));
      assert.deepEqual(
        [...headers],
        [
          ['streamtype', type],
          ['port', '80'],
        ],
      );
    }
    reader.close();
  });

  test('that inflate above the size limit are rejected', async () => {
    const reader = createHeaderReader();
    await assert.rejects(async () => reader.read(await createHeaderWriter()({ x: 'y'.repeat(1_000_000) })), SpdyError);
    await assert.rejects(reader.read(Buffer.from([0])), SpdyError, 'and nothing more is read after that');
  });

  test('that are damaged are rejected', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1 }), async (bytes) => {
        const reader = createHeaderReader();
        await assert.rejects(reader.read(Buffer.from(bytes)), SpdyError);
        reader.close();
      }),
      { numRuns: 50 },
    );
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        try {
          parseHeaders(Buffer.from(bytes));
        } catch (error) {
          assert.ok(error instanceof SpdyError);
        }
      }),
    );
  });

  test('in our replies are empty and complete blocks', async () => {
    const next = createEmptyHeaders();
    const inflate = createInflate({ dictionary });
    let out = Buffer.alloc(0);
    inflate.on('data', (part: Buffer) => (out = Buffer.concat([out, part])));
    for (let blocks = 1; blocks <= 3; blocks += 1) {
      const block = next();
      // Node's inflate needs no sync mark to output its data; Go's waits for it.
      assert.equal(block.subarray(-5).toString('hex'), '000000ffff');
      await new Promise<void>((resolve) => {
        inflate.write(block);
        inflate.flush(constants.Z_SYNC_FLUSH, resolve);
      });
      assert.equal(out.length, 4 * blocks);
    }
    inflate.destroy();
  });
});

describe('a SPDY connection', () => {
  const connect = (maxStreams = 4, clock: Parameters<typeof serveSpdy>[1]['clock'] = systemClock) => {
    const [client, carrier] = duplexPair();
    const streams: SpdyStream[] = [];
    const connection = serveSpdy(carrier, { clock, maxStreams, onStream: (stream) => streams.push(stream) });
    client.on('error', () => {});
    return { client, carrier, streams, connection, peer: createSpdyPeer(client) };
  };

  test('accepts streams and carries both directions and their ends', async () => {
    const { client, streams, peer, connection } = connect();
    const id = await peer.open({ streamtype: 'data' });
    assert.ok(await peer.find((frame) => frame.type === 2 && frame.streamId === id));
    const [stream] = streams;
    assert.equal(stream?.headers.get('streamtype'), 'data');
    client.write(Buffer.concat([formatData(id, Buffer.from('hello')), formatData(id, Buffer.alloc(0), true)]));
    const parts: Buffer[] = [];
    for await (const part of stream?.iterator({ destroyOnReturn: false }) ?? []) parts.push(part);
    assert.equal(Buffer.concat(parts).toString(), 'hello');
    stream?.end(Buffer.alloc(100_000, 'x'));
    await peer.find((frame) => frame.type === 0 && frame.flags === 1);
    const sent = peer.frames.filter((frame) => frame.type === 0);
    assert.equal(
      sent.reduce((sum, frame) => sum + frame.body.length, 0),
      100_000,
    );
    assert.ok(sent.every((frame) => frame.body.length <= 32 * 1024));
    client.write(formatPing(7));
    assert.ok(await peer.find((frame) => frame.type === 6 && frame.streamId === 7));
    assert.equal(
      peer.frames.some((frame) => frame.type === 3),
      false,
      'nothing is reset that ended well',
    );
    client.end();
    await connection.done;
  });

  test('refuses streams above the limit and stays open', async () => {
    const { client, streams, peer, connection } = connect(1);
    await peer.open({});
    const second = await peer.open({});
    assert.ok(await peer.find((frame) => frame.type === 3 && frame.streamId === second));
    assert.equal(streams.length, 1);
    client.end();
    await connection.done;
  });

  test('resets destroyed streams, and destroys streams that the client resets', async () => {
    const { client, streams, peer, connection } = connect();
    const one = await peer.open({});
    const two = await peer.open({});
    await peer.find((frame) => frame.type === 2 && frame.streamId === two);
    streams[0]?.destroy();
    assert.ok(await peer.find((frame) => frame.type === 3 && frame.streamId === one));
    const closed = streams[1] && once(streams[1], 'close');
    client.write(formatReset(two));
    await closed;
    client.end();
    await connection.done;
  });

  test('applies backpressure for an unread stream, and still notices a disconnect', async () => {
    const clock = manualClock();
    const { client, carrier, streams, peer, connection } = connect(4, clock);
    const id = await peer.open({});
    await peer.find((frame) => frame.type === 2);
    for (let count = 0; count < 100; count += 1) client.write(formatData(id, Buffer.alloc(32 * 1024)));
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    assert.ok((streams[0]?.readableLength ?? 0) <= 128 * 1024);
    clock.advance(2_000);
    assert.ok(await peer.find((frame) => frame.type === 6), 'asks whether somebody is there');
    carrier.destroy();
    await connection.done;
    assert.equal(streams[0]?.destroyed, true);
  });

  test('that does not speak SPDY is closed', async () => {
    for (const bytes of [Buffer.from('8002000100000000', 'hex'), Buffer.from('8003000100000001aa', 'hex')]) {
      const { client, connection } = connect();
      client.write(bytes);
      await connection.done;
    }
    const { connection, peer } = connect();
    const id = await peer.open({});
    await peer.open({}, false, id);
    await connection.done;
  });

  test('never throws on any input', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 30 })), async (chunks) => {
        const { client, connection } = connect();
        for (const chunk of chunks) client.write(Buffer.from(chunk));
        client.end();
        await connection.done;
        assert.ok(client instanceof Duplex);
      }),
      { numRuns: 50 },
    );
  });
});
