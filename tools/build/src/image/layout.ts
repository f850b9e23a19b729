/** The files of the image on top of its base: the Dockerfile copies exactly these, and `assembleImage` does the same without a daemon. */

/** Third-party software for Macs: `image/artifacts.lock` has its sources. */
export type ArtifactName =
  | 'node'
  | 'tart'
  | 'tailscale'
  | 'node_exporter'
  | 'actions-runner'
  | 'packer'
  | 'crane'
  | 'oras';

export type ImageFile = {
  /** The path in the image. It is the default of a flag of the manager, or the chart sets it. */
  readonly path: string;
} & (
  | {
      /** Our own programs as `npm run build` writes them to `dist/`, or the node that runs them. */
      readonly from: 'manager' | 'runners.mjs' | 'tart-kubelet.mjs' | 'node';
    }
  | { readonly artifact: ArtifactName }
);

/**
 * Of the programs in the image. By default V8 collects garbage late, and a manager of 5,000 machines needs twice the memory
 * (`docs/decisions/2026-11-18-v8-flags-of-the-manager.md`).
 */
export const nodeFlags: readonly string[] = ['--max-semi-space-size=2', '--heap-growing-percent=30'];

export const imageFiles: readonly ImageFile[] = [
  { path: '/usr/local/bin/node', from: 'node' },
  // A folder: the manager, the installer of custom resource definitions, the check before an uninstall, and their files.
  { path: '/opt/tartan', from: 'manager' },
  { path: '/opt/tartan/runners.mjs', from: 'runners.mjs' },
  { path: '/opt/tart-kubelet/tart-kubelet.mjs', from: 'tart-kubelet.mjs' },
  { path: '/opt/tart-kubelet/node', artifact: 'node' },
  { path: '/opt/tart/tart.tar.gz', artifact: 'tart' },
  { path: '/opt/tailscale/tailscale.tar.gz', artifact: 'tailscale' },
  { path: '/opt/node_exporter/node_exporter', artifact: 'node_exporter' },
  { path: '/opt/actions-runner/actions-runner.tar.gz', artifact: 'actions-runner' },
  { path: '/opt/packer/packer', artifact: 'packer' },
  { path: '/opt/crane/crane', artifact: 'crane' },
  { path: '/opt/oras/oras', artifact: 'oras' },
];

/** The unprivileged user and group of the image. */
export const imageUser = 65_532;
