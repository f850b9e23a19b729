/** The shipped programs: what `npm run build` builds. */
export { buildAgent, buildInstaller, buildManager, buildPlayedHosts, buildRunners, buildTartan } from './programs.ts';
export { bundle } from './bundle.ts';
export { type AssembleOptions, assembleImage } from './image/assemble-image.ts';
export { type ArtifactName, imageFiles, imageUser, nodeFlags } from './image/layout.ts';
