import { createLogger, customResourceDefinitions } from '@tartan/kube';
import { systemClock as clock } from '@tartan/kube/clock';
import { coreDefinitions, createClusterApi } from '@tartan/sim-cluster-api';
import { runClusterApiSuite } from '@tartan/sim-cluster-api/suite';
import { untilServed } from '@tartan/sim-fleet';
import { realHost } from './cluster-api/real-host.ts';

/** Shorter than in core: the tests should wait for the API server, not for a minute. */
const intervals = { drainRetryMs: 1_000, externalRetryMs: 1_000, deletionRetryMs: 1_000 };

const start = () =>
  realHost(async ({ client, subresources }) => {
    for (const definition of coreDefinitions()) await client.create(customResourceDefinitions, definition);
    await untilServed(client, coreDefinitions());
    const { evictPod } = subresources;
    const log = createLogger({ write: () => {}, clock, level: 'error' });
    const clusterApi = createClusterApi({ client, evictPod, clock, random: Math.random, log, intervals });
    const stopping = new AbortController();
    const running = clusterApi.run(stopping.signal);
    return () => {
      stopping.abort();
      return running;
    };
  });

runClusterApiSuite('the stand-in for Cluster API on a real Kubernetes', start, { sideBySide: true });
