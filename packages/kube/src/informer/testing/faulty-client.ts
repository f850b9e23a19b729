import type { List, WatchEvent } from '../../client/client.ts';
import { KubeError } from '../../errors/kube-error.ts';
import type { ListerWatcher } from '../reflector.ts';
import type { HistoryEntry, ModelServer, Thing } from './model-server.ts';
import { createStream, type Stream } from './stream.ts';

interface Connection {
  stream: Stream<WatchEvent<Thing>>;
  /** How many entries of the server's history were sent. */
  sent: number;
  /** The version for a bookmark. */
  from: bigint;
}

/** A client with a scripted network. Delivers nothing before `deliver`, or `heal`. */
export interface FaultyClient {
  client: ListerWatcher<Thing>;
  /** Versions of the answered lists. */
  readonly lists: readonly string[];
  readonly watches: readonly { resourceVersion: string; timeoutSeconds: number | undefined }[];
  /** Streams that are being read and not closed. */
  readonly readers: number;
  /** A watch is open and everything has been sent. */
  readonly caughtUp: boolean;
  /** Sends each connection its next `count` events. */
  deliver(count: number): void;
  /** Sends each connection the last `count` events again. */
  repeat(count: number): void;
  bookmark(): void;
  end(): void;
  break(error: Error): void;
  failNextList(error: Error): void;
  failNextWatch(error: Error): void;
  /** Lists return the state at the time of the request, but only after `releaseLists`. */
  holdLists(): void;
  releaseLists(): void;
  /** The next watch starts `count` events too early. */
  replayOnNextWatch(count: number): void;
  /** From now on everything works immediately. */
  heal(): void;
}

export const createFaultyClient = (server: ModelServer): FaultyClient => {
  const connections = new Set<Connection>();
  const lists: string[] = [];
  const watches: { resourceVersion: string; timeoutSeconds: number | undefined }[] = [];
  let listFailures: Error[] = [];
  let watchFailures: Error[] = [];
  let held: (() => void)[] | undefined;
  let replay = 0;
  let readers = 0;
  let flowing = false;

  const eventOf = ({ type, object }: HistoryEntry): WatchEvent<Thing> => ({ type, object });
  const send = (connection: Connection, count: number): void => {
    for (const entry of server.history.slice(connection.sent, connection.sent + count)) {
      connection.sent++;
      if (entry.version > connection.from) connection.from = entry.version;
      connection.stream.push(eventOf(entry));
    }
  };
  const release = (): void => {
    const waiting = held ?? [];
    held = undefined;
    for (const answer of waiting) answer();
  };

  const list = async (signal: AbortSignal | undefined): Promise<List<Thing>> => {
    const failure = listFailures.shift();
    const answer = { items: server.objects(), resourceVersion: `${server.version}` };
    if (held) {
      await new Promise<void>((resolve, reject) => {
        held?.push(resolve);
        signal?.addEventListener('abort', () => reject(new KubeError('aborted', 'The caller gave up.')));
      });
    }
    if (failure) throw failure;
    lists.push(answer.resourceVersion);
    return answer;
  };

  const watch = async function* (
    resourceVersion: string,
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent<Thing>, void, undefined> {
    const failure = watchFailures.shift();
    if (failure) throw failure;
    const from = BigInt(resourceVersion);
    if (from < server.compactedVersion) throw new KubeError('expired', 'too old resource version', { code: 410 });
    const known = server.history.filter(({ version }) => version <= from).length;
    const connection = { stream: createStream<WatchEvent<Thing>>(), sent: Math.max(0, known - replay), from };
    replay = 0;
    connections.add(connection);
    readers++;
    try {
      if (flowing) send(connection, Number.POSITIVE_INFINITY);
      yield* connection.stream.read(signal);
    } finally {
      readers--;
      connections.delete(connection);
    }
  };

  return {
    client: {
      list: async (_resource, { signal, transform = (object) => object }) => {
        const { items, resourceVersion } = await list(signal);
        return { items: items.flatMap((item) => transform(item) ?? []), resourceVersion };
      },
      watch: (_resource, { resourceVersion, timeoutSeconds, signal }) => {
        watches.push({ resourceVersion, timeoutSeconds });
        return watch(resourceVersion, signal);
      },
    },
    lists,
    watches,
    get readers() {
      return readers;
    },
    get caughtUp() {
      return [...connections].some(({ sent }) => sent === server.history.length);
    },
    deliver: (count) => {
      for (const connection of connections) send(connection, count);
    },
    repeat: (count) => {
      for (const { stream, sent } of connections)
        for (const entry of server.history.slice(Math.max(0, sent - count), sent)) stream.push(eventOf(entry));
    },
    bookmark: () => {
      for (const connection of connections) {
        if (connection.sent === server.history.length) connection.from = server.version;
        connection.stream.push({ type: 'BOOKMARK', resourceVersion: `${connection.from}` });
      }
    },
    end: () => {
      for (const { stream } of connections) stream.end();
      connections.clear();
    },
    break: (error) => {
      for (const { stream } of connections) stream.break(error);
      connections.clear();
    },
    failNextList: (error) => listFailures.push(error),
    failNextWatch: (error) => watchFailures.push(error),
    holdLists: () => {
      held ??= [];
    },
    releaseLists: release,
    replayOnNextWatch: (count) => {
      replay = count;
    },
    heal: () => {
      flowing = true;
      listFailures = [];
      watchFailures = [];
      release();
      for (const connection of connections) send(connection, Number.POSITIVE_INFINITY);
    },
  };
};
