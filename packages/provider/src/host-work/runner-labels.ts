/** What builders of every environment may bear: from GitHub, or as the default of the field. GitHub does not tell capitals apart. */
const shared: ReadonlySet<string> = new Set(['self-hosted', 'macos', 'arm64', 'bare-metal', 'vm-image-builder']);

/** As `spec.ghActionsRunner.ghRunnerLabels` lists them. */
export const runnerLabels = (text: string): readonly string[] =>
  text
    .split(',')
    .map((label) => label.trim())
    .filter((label) => label !== '');

/** A runner takes every job whose labels it has. Without one of its own it takes those of another environment (I-16). */
export const hasOwnLabel = (labels: readonly string[]): boolean =>
  labels.some((label) => !shared.has(label.toLowerCase()));
