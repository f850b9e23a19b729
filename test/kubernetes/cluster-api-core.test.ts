import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { runClusterApiSuite } from '@tartan/sim-cluster-api/suite';
import { startClusterApi } from '@tartan/tools-kubernetes';
import { realHost } from './cluster-api/real-host.ts';

/** Where several scenarios go on at once, each looks less often, or the API server does nothing but answer. */
const pace = { momentMs: 700 };

const start = () =>
  realHost(async ({ controlPlane }) => {
    const core = await startClusterApi(controlPlane);
    return async () => {
      await core.stop();
      // The rights that it ships must be enough, also for kinds that it has never heard of.
      const lines = readFileSync(core.log, 'utf8').split('\n');
      assert.deepEqual(
        lines.filter((line) => /forbidden/i.test(line)),
        [],
      );
    };
  }, pace);

runClusterApiSuite('Cluster API core 1.14 on a real Kubernetes', start, { sideBySide: true });
