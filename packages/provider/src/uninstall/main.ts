#!/usr/bin/env node
import { runAsProcess } from '@tartan/kube';
import { runCheck } from './check.ts';

await runAsProcess(runCheck);
