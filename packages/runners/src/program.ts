import { randomBytes } from 'node:crypto';
import { type ProcessContext, runManagerProgram } from '@tartan/kube';
import { collectDefaultMetrics } from 'prom-client';
import packageFile from '../package.json' with { type: 'json' };
import { parseFlags } from './flags.ts';
import { createRunnersManager } from './manager/runners-manager.ts';
import { createRunnerMetrics } from './metrics/runner-metrics.ts';

/** The runners controller as a program. */
export const runRunners = (argv: readonly string[], context: ProcessContext): Promise<number> =>
  runManagerProgram(
    {
      title: 'The runners controller',
      version: packageFile.version,
      parse: parseFlags,
      create: async (deps) => {
        const metrics = createRunnerMetrics({ clock: deps.clock });
        collectDefaultMetrics({ register: metrics.registry });
        return createRunnersManager({ ...deps, randomBytes, metrics });
      },
    },
    argv,
    context,
  );
