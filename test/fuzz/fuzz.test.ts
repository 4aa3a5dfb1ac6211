// The shortest run of the fuzzer. The next longer one is fuzz.heavy.test.ts.
import { fuzzSuite } from './fuzz-suite.ts'

fuzzSuite({ sqlite: 300, postgres: 200 })
