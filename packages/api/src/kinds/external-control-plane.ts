import { z } from 'zod';
import { kindNames, remoteServiceAccount } from '../names.ts';
import { conditions, flag, requiredText, observedGeneration, optional, time } from '../schema/fields.ts';
import { ageColumn, column, defineKind, conditionPath, type ObjectOf } from '../schema/kind.ts';

/** Has no `version`: with one, core would block machines of another version. */
const spec = z.object({
  serviceAccountName: requiredText(
    'The ServiceAccount of this namespace as which Cluster API core connects; the kubeconfig holds a token of it.',
  ).default(remoteServiceAccount),
  server: optional(requiredText('The address in the kubeconfig. Left out: that of the Service `kubernetes`.', 512)),
  kubeconfig: z
    .enum(['Minted', 'Provided'])
    .describe(
      'Who writes the kubeconfig. Minted: the provider. Provided: another writer, such as an ExternalSecret; until then, the provider.',
    )
    .default('Minted'),
});

const status = z
  .object({
    initialization: z
      .object({ controlPlaneInitialized: flag('The API server answers.') })
      .exactPartial()
      .describe('What Cluster API waits for, by contract v1beta2.'),
    initialized: flag('The same, for managers of contract v1beta1.'),
    ready: flag('The control plane can be used. For managers of contract v1beta1.'),
    externalManagedControlPlane: flag(
      'Always true: no Machine is part of this control plane. Without it core neither drains nor deletes Nodes.',
    ),
    kubeconfigExpires: time('When the token in the kubeconfig expires. It is replaced well before.'),
    conditions: conditions(),
    observedGeneration: observedGeneration(),
  })
  .exactPartial();

export const externalControlPlane = defineKind({
  names: kindNames.controlPlane,
  description:
    'Tells Cluster API that the cluster it runs in is up and managed elsewhere, and keeps the kubeconfig by which core connects to it.',
  spec: spec.describe('What is wanted.').prefault({}),
  status: status.describe('What is known of the control plane.'),
  columns: [
    column('Available', conditionPath('Available', 'status')),
    column('Kubeconfig-Expires', '.status.kubeconfigExpires'),
    column('Message', conditionPath('Available', 'message'), { priority: 1 }),
    ageColumn,
  ],
  categories: ['cluster-api'],
  contract: true,
});

export type ExternalControlPlane = ObjectOf<typeof externalControlPlane>;
