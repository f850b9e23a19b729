/** The agent on every Mac: its Node, its identity, and what `kubectl` asks of a kubelet. */

// What it is told when it starts.
export { type AgentOptions, parseFlags } from './flags/flags.ts';
export * from './release.ts';

// Who it is, and its Node.
export * from './identity/node-identity.ts';
export * from './node/index.ts';

// What is asked of a kubelet.
export * from './api/pod-runtime.ts';
export { createKubeletApi, type KubeletApi, type KubeletApiOptions } from './api/server.ts';
