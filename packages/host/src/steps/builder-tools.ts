import type { Artifact } from '../artifacts/artifact.ts';
import { scriptText } from '../engine/compose-script.ts';
import type { Step } from './step.ts';

interface Intent {
  readonly packer: Artifact;
  readonly crane: Artifact;
  readonly oras: Artifact;
  /** The command that makes room before a bake. */
  readonly reclaim: string;
}

/** What a builder bakes and ships images with. */
export const builderTools: Step<Intent> = {
  name: 'builder-tools',
  title: 'install what images are baked with',
  optional: true,
  deadline: 120_000,
  intent: ({ ghActionsRunner: builder }) =>
    builder && {
      packer: builder.packer,
      crane: builder.crane,
      oras: builder.oras,
      reclaim: scriptText('installed/tartan-reclaim-disk'),
    },
  environment: ({ packer, crane, oras, reclaim }) => ({
    PACKER: packer.sha256,
    CRANE: crane.sha256,
    ORAS: oras.sha256,
    RECLAIM: reclaim,
  }),
  artifacts: ({ packer, crane, oras }) => [packer, crane, oras],
};
