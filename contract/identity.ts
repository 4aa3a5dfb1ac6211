// The identity verification endpoint. The key alone says who calls.
import { credentialParameters, type Endpoint } from './endpoint.ts'

export const identity = {
  name: 'identity',
  path: '/api/id_verification_api.php',
  methods: ['GET', 'POST'],
  shape: 'identity',
  readsForms: true,
  common: { api_key: credentialParameters.api_key },
  operations: {
    verify: {
      actions: [],
      text: { zh: '核验姓名与身份证号', en: 'Check whether name and ID number belong together' },
      parameters: {
        name: {
          type: 'string',
          required: true,
          text: { zh: '姓名，2 至 50 个字符', en: 'Name, 2 to 50 characters' },
          example: '张三',
        },
        idcard: {
          type: 'string',
          required: true,
          text: { zh: '18 位身份证号', en: 'National ID number, 18 characters' },
          example: '11010519491231002X',
        },
      },
    },
  },
} as const satisfies Endpoint
