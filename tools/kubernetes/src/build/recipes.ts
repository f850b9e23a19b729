import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export type BinaryName =
  | 'etcd'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-scheduler'
  | 'kubectl'
  | 'cluster-api-core'
  | 'clusterctl'
  | 'cluster-api-core-1.10'
  | 'helm'
  | 'helm-3'
  | 'promtool';

/** A text that must be in a file of the module `versionOf` exactly once, and its replacement. */
export interface SourceEdit {
  file: string;
  from: string;
  to: string;
}

/** How the binaries of one Go module are built. The module's go.mod and go.sum, in `modules/<name>`, pin every version. */
export interface Recipe {
  module: 'etcd' | 'kubernetes' | 'cluster-api' | 'cluster-api-1.10' | 'helm' | 'helm-3' | 'prometheus';
  /** The requirement in go.mod whose version the binaries report as their own. */
  versionOf: string;
  binaries: readonly { name: BinaryName; package: string }[];
  /** Changes to single lines of its sources, only for this build. */
  edits?: readonly SourceEdit[];
  /** Folders of its sources that tests also need, by their name beside the binaries. */
  extraFolders?: Readonly<Record<string, string>>;
  /** Go variables to set at link time. The components compare their versions and refuse an unset one. */
  variables(version: string): Record<string, string>;
}

/** Sets the version in the Go packages `packages`. */
const versionIn =
  (...packages: readonly string[]) =>
  (version: string): Record<string, string> => {
    const [major = '', minor = ''] = version.replace(/^v/, '').split('.');
    const variables: Record<string, string> = {};
    for (const name of packages) {
      variables[`${name}.gitVersion`] = version;
      variables[`${name}.gitMajor`] = major;
      variables[`${name}.gitMinor`] = minor;
      variables[`${name}.gitTreeState`] = 'clean';
    }
    return variables;
  };

const clusterApiVersion = versionIn('sigs.k8s.io/cluster-api/version');

/** Core has no flag for the address of its webhooks and listens on all addresses. Tests use only loopback. */
const webhooksOnLoopback = (file: string): SourceEdit => ({
  file,
  from: 'Port:     webhookPort,',
  to: 'Host: "127.0.0.1", Port: webhookPort,',
});

/**
 * `clusterctl move` has no flag for how long it waits for a block to go: ten attempts, the pauses between them growing by half from 5 s, 7
 * minutes in all. Here they grow from 50 ms.
 */
const shortPausesOfMove: SourceEdit = {
  file: 'cmd/clusterctl/client/cluster/mover.go',
  from: '5 * time.Second',
  to: '50 * time.Millisecond',
};

export const recipes: readonly Recipe[] = [
  {
    module: 'etcd',
    versionOf: 'go.etcd.io/etcd/server/v3',
    binaries: [{ name: 'etcd', package: 'go.etcd.io/etcd/server/v3' }],
    variables: () => ({}),
  },
  {
    module: 'kubernetes',
    versionOf: 'k8s.io/kubernetes',
    binaries: [
      { name: 'kube-apiserver', package: 'k8s.io/kubernetes/cmd/kube-apiserver' },
      { name: 'kube-controller-manager', package: 'k8s.io/kubernetes/cmd/kube-controller-manager' },
      { name: 'kube-scheduler', package: 'k8s.io/kubernetes/cmd/kube-scheduler' },
      { name: 'kubectl', package: 'k8s.io/kubernetes/cmd/kubectl' },
    ],
    variables: versionIn('k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'),
  },
  {
    module: 'cluster-api',
    versionOf: 'sigs.k8s.io/cluster-api',
    binaries: [
      { name: 'cluster-api-core', package: 'sigs.k8s.io/cluster-api/core' },
      { name: 'clusterctl', package: 'sigs.k8s.io/cluster-api/cmd/clusterctl' },
    ],
    edits: [webhooksOnLoopback('core/main.go'), shortPausesOfMove],
    extraFolders: { 'core/config': 'config' },
    variables: clusterApiVersion,
  },
  {
    // The version that the original system ran: contract v1beta1.
    module: 'cluster-api-1.10',
    versionOf: 'sigs.k8s.io/cluster-api',
    binaries: [{ name: 'cluster-api-core-1.10', package: 'sigs.k8s.io/cluster-api' }],
    edits: [webhooksOnLoopback('main.go')],
    extraFolders: { config: 'config' },
    variables: clusterApiVersion,
  },
  {
    module: 'helm',
    versionOf: 'helm.sh/helm/v4',
    binaries: [{ name: 'helm', package: 'helm.sh/helm/v4/cmd/helm' }],
    variables: (version) => ({ 'helm.sh/helm/v4/internal/version.version': version }),
  },
  {
    // Applies on the client side, with a three-way merge; still widely used.
    module: 'helm-3',
    versionOf: 'helm.sh/helm/v3',
    binaries: [{ name: 'helm-3', package: 'helm.sh/helm/v3/cmd/helm' }],
    variables: (version) => ({ 'helm.sh/helm/v3/internal/version.version': version }),
  },
  {
    module: 'prometheus',
    versionOf: 'github.com/prometheus/prometheus',
    binaries: [{ name: 'promtool', package: 'github.com/prometheus/prometheus/cmd/promtool' }],
    variables: (version) => ({ 'github.com/prometheus/common/version.Version': version }),
  },
];

export const binaryNames: readonly BinaryName[] = recipes.flatMap(({ binaries }) => binaries.map(({ name }) => name));

const modulesFolder = join(import.meta.dirname, '../../modules');

export const moduleFolder = (recipe: Recipe): string => join(modulesFolder, recipe.module);

/** The go.mod of a recipe, and the version that it builds. `go` itself refuses a version that is older than that of go.mod. */
export const readGoMod = (recipe: Recipe): { version: string; text: string } => {
  const text = readFileSync(join(moduleFolder(recipe), 'go.mod'), 'utf8');
  const version = text.match(new RegExp(`^(?:require)?\\s*${recipe.versionOf} (v\\S+)`, 'm'))?.[1];
  if (version === undefined) throw new Error(`${moduleFolder(recipe)}/go.mod names no version of ${recipe.versionOf}`);
  return { version, text };
};

export const recipeOf = (binary: BinaryName): Recipe => {
  const recipe = recipes.find((candidate) => candidate.binaries.some(({ name }) => name === binary));
  if (recipe === undefined) throw new Error(`no recipe builds ${binary}`);
  return recipe;
};
