import { z } from 'zod';
import { count, name, optional, text } from '../schema/fields.ts';
import { immutable, withRules } from '../schema/rule.ts';

/**
 * Cluster API clones this from a template, also while nobody looks. So nothing in it is ever required, and nothing that an older
 * template may hold is refused here: a clone that is refused leaves a fleet short of machines with no way back (I-14). What cannot
 * work is said in a condition; people who write a template hear of it at once (machine-template.ts).
 */

const ghActionsRunner = z.object({
  ghOrg: text('The GitHub organisation it registers with.').default('tuist'),
  ghRunnerLabels: text(
    'Its labels, with commas between them. They must cover `runs-on` of the workflows.',
    1024,
  ).default('self-hosted,macos,bare-metal,vm-image-builder'),
  ghAppSecretName: optional(
    text('A Secret of this namespace with `app-id`, `installation-id` and `private-key` of a GitHub App.'),
  ),
});

export const clonedFields = {
  type: text('The type of Mac, as Scaleway calls it.', 63).default('M2-L'),
  zone: text('The zone of Scaleway.', 63).default('fr-par-1'),
  os: text('The release family of macOS, such as Tahoe. Not a version: images of versions are retired.', 63).default(
    'Tahoe',
  ),
  fleetName: optional(
    text('The fleet: who shares an SSH key and rolls together. Also the label `tuist.dev/fleet` of the Node.', 63),
  ),
  kubeletVersion: optional(
    text(
      'The version that the Node reports. Must equal `version` of the Machine, or Cluster API sees it roll out for ever.',
      63,
    ),
  ),
  hostCPU: optional(count('CPUs that the Node offers. 0: what the manager was told.')),
  hostMemoryMB: optional(
    count(
      'Memory that the Node offers. Leave 2 GB to macOS, or virtual machines do not start. 0: what the manager was told.',
    ),
  ),
  maxPods: optional(count('Pods that the Node takes at a time. 0: what the manager was told.')),
  adoptPoolPrefix: optional(
    text(
      'Servers whose name begins with this are the pool. Empty: what the manager was told by --default-adopt-pool-prefix.',
      63,
    ),
  ),
  ghActionsRunner: optional(
    ghActionsRunner.describe(
      'Makes the Mac a builder: a GitHub Actions runner runs on the host itself, beside an idle agent.',
    ),
  ),
};

export const machineSpec = z
  .object({
    providerID: optional(
      withRules(name('Which server it is: `scw-applesilicon://<zone>/<server id>`. Set by the controller.', 512), [
        immutable('a machine keeps its server: delete the machine to get another one'),
      ]),
    ),
    ...clonedFields,
  })
  .describe('Which Mac is wanted, and what it shall be.');
