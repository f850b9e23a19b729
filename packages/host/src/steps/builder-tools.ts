import type { Artifact } from '../artifacts/artifact.ts';
import type { Step } from './step.ts';

interface Intent {
  readonly packer: Artifact;
  readonly crane: Artifact;
  readonly oras: Artifact;
}

/** What a builder bakes and ships images with. */
export const builderTools: Step<Intent> = {
  name: 'builder-tools',
  title: 'install packer, crane and oras',
  optional: true,
  deadline: 120_000,
  intent: ({ ghActionsRunner: builder }) =>
    builder && { packer: builder.packer, crane: builder.crane, oras: builder.oras },
  environment: ({ packer, crane, oras }) => ({ PACKER: packer.sha256, CRANE: crane.sha256, ORAS: oras.sha256 }),
  artifacts: ({ packer, crane, oras }) => [packer, crane, oras],
};
