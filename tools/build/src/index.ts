/** Programs as they ship: what `npm run build` makes. */
export { buildAgent } from './build-agent.ts';
export { buildManager } from './build-manager.ts';
export { buildTartan } from './build-tartan.ts';
export { bundle } from './bundle.ts';
