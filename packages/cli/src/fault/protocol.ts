import { z } from 'zod';
import { documentSchema } from '../output/view.ts';

/** Holds the path of the socket of a simulated fleet. Every user of the cluster can read it. */
export const discoveryConfigMap = { namespace: 'kube-public', name: 'tartan-simulation' } as const;
export const socketKey = 'faultSocket';

export const faultList = z.object({
  faults: z.array(
    z.object({
      name: z.string().describe('For `tartan fault NAME`.'),
      title: z.string().describe('What goes wrong.'),
      watch: z.array(z.string()).describe('Commands that show the effect.'),
    }),
  ),
});

export const errorResponse = z.object({ message: z.string() });

/** One line of output, or the result. */
const faultResult = z.object({
  /** `not playable`: nothing was changed. */
  ending: z.enum(['as expected', 'not playable', 'unexpected', 'stopped']),
  text: z.string(),
});
export type FaultResult = z.infer<typeof faultResult>;
export const faultOutput = z.union([z.object({ line: z.string() }), faultResult]);
export type FaultOutput = z.infer<typeof faultOutput>;

export const faultsDocument = documentSchema('tartan.faults/v1', { faults: faultList.shape.faults });
