import { after, before, describe, test } from 'node:test';
import { systemClock } from '../../clock/clock.ts';
import { namespaces } from '../../objects/builtin.ts';
import type { Transport } from '../../transport/transport.ts';
import { createClient } from '../create-client.ts';
import { createSubresources } from '../subresources.ts';
import { createNamespace } from './fixture.ts';
import { reading } from './reading.ts';
import { subresourceBehaviours } from './subresources.ts';
import { writing } from './writing.ts';

/** A cluster to run the suite on. */
export interface ClusterUnderTest {
  /** With full permissions. */
  transport: Transport;
  /** With a token that the cluster rejects. */
  stranger: Transport;
  close(): Promise<void>;
}

/** The client's contract, for every transport and server. Registers one test per behaviour. */
export const runClientSuite = (title: string, start: () => Promise<ClusterUnderTest>): void => {
  describe(title, { concurrency: 4 }, () => {
    let cluster: ClusterUnderTest | undefined;
    before(async () => {
      cluster = await start();
    });
    after(async () => {
      cluster?.transport.close();
      cluster?.stranger.close();
      await cluster?.close();
    });
    for (const { sentence, run } of [...writing, ...reading, ...subresourceBehaviours]) {
      test(sentence, { timeout: 120_000 }, async ({ signal }) => {
        if (!cluster) throw new Error('There is no cluster');
        const options = { clock: systemClock, userAgent: 'tartan-test' };
        const client = createClient(cluster.transport, options);
        const stranger = createClient(cluster.stranger, options);
        const subresources = createSubresources(cluster.transport, options);
        const namespace = await createNamespace(client);
        try {
          await run({ client, stranger, subresources, namespace, signal });
        } finally {
          await client.delete(namespaces, { name: namespace });
        }
      });
    }
  });
};
