/** Programs as they ship: what `npm run build` makes. */
export { buildAgent } from './build-agent.ts';
export { buildInstaller } from './build-installer.ts';
export { buildManager } from './build-manager.ts';
export { buildRunners } from './build-runners.ts';
export { buildTartan } from './build-tartan.ts';
export { bundle } from './bundle.ts';
export { type AssembleOptions, assembleImage } from './image/assemble-image.ts';
export { type ArtifactName, imageFiles, imageUser } from './image/layout.ts';
