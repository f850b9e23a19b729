#!/usr/bin/env node
import { runAsProcess } from '@tartan/kube';
import { runInstall } from './install.ts';

await runAsProcess(runInstall);
